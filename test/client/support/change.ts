import type { Change } from '../../../client/src/index.ts'

const usual: Change = {
  id: '1',
  at: '2026-01-01T00:00:00.000Z',
  type: 'file.stored',
  subject: '',
  actor: 'ann',
  requestId: null,
  details: null,
}

export const changeWith = (members: Partial<Change>): Change => ({ ...usual, ...members })
