import type { Document } from '../../http/reply.ts'

export const accessXml = {
  signIn: { root: 'credentials' },
  token: { root: 'authToken' },
} as const satisfies Record<string, Document['xml']>
