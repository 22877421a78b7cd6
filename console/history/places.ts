import type { Change } from '../../client/src/index.ts'
import type { Route } from '../route/routes.ts'
import { partsOf } from '../uploads/paths.ts'
import { groupOf } from './history-store.ts'

type Place = Pick<Route, 'view' | 'path' | 'query'>

const inFiles = ({ type, subject, details }: Change): Place => {
  // For a moved file, the place is the target. For an upload of several files, the place is their folder.
  const parts = partsOf((type === 'file.copied' ? undefined : details?.to) ?? subject)
  const isFolder = type.startsWith('folder.') || (type === 'file.stored' && details?.names !== undefined)
  return { view: 'files', path: isFolder ? parts : parts.slice(0, -1), query: {} }
}

/** Undefined if the console shows nothing at the place of the change. */
export const placeOf = (change: Change): Place | undefined => {
  const { type, subject } = change
  if (groupOf(type) === 'files') return inFiles(change)
  const [thing, id = '', kind] = subject.split('/')
  if (!/^\d+$/.test(id)) return undefined
  if (thing === 'form') return { view: 'forms', path: [id], query: {} }
  if (thing === 'category')
    return { view: 'categories', path: [id], query: kind === 'blogs' || kind === 'blog' ? { kind: 'blogs' } : {} }
  return undefined
}
