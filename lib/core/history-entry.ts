import type { SiteId } from './ids.ts'

const keptThings = ['site', 'form', 'category', 'object', 'workflow', 'token'] as const
const fates = ['created', 'changed', 'removed'] as const

/** What can happen to a site (decisions.md, section 10). */
export const changeTypes = [
  'file.stored',
  'file.removed',
  'file.moved',
  'file.copied',
  'file.restored',
  'folder.created',
  'folder.removed',
  'folder.restored',
  'field.created',
  'field.updated',
  'field.removed',
  'link.added',
  'link.removed',
  ...keptThings.flatMap((thing) => fates.map((fate) => `${thing}.${fate}` as const)),
  'content.imported',
] as const

export type ChangeType = (typeof changeTypes)[number]

/** A type as somebody has written it; undefined for what is none. */
export const readChangeType = (text: string): ChangeType | undefined => changeTypes.find((type) => type === text)

/** What the logs say of an entry that could not be written: an alarm counts these words. */
export const lostEntry = 'The history lacks a change'

/** Who makes a change, and in which request. */
export interface Author {
  /** The user of the token, or `admin:` and the user of the operating system. */
  readonly actor: string
  readonly requestId?: string
}

/**
 * What a change leaves in the history of its site; the store adds the moment and an id. Every changing call of a port takes
 * one, so that nothing is changed without a word of it. A call that is only a step of a larger change takes none: the call that
 * completes that change does.
 */
export interface HistoryEntry extends Author {
  readonly site: SiteId
  readonly type: ChangeType
  /** A path of the storage, or what changed otherwise: `form/1/field/-7`, `category/1/news/36`. */
  readonly subject: string
  /** Never bodies, tokens or query strings. */
  readonly details?: Readonly<Record<string, string | number | boolean | readonly (string | number)[]>>
}
