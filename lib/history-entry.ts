import type { SiteId } from './ids.ts'

/** What can happen to a site (decisions.md, section 10). */
export type ChangeType =
  | `file.${'stored' | 'removed' | 'moved' | 'copied' | 'restored'}`
  | `folder.${'created' | 'removed' | 'restored'}`
  | `field.${'created' | 'updated' | 'removed'}`
  | `link.${'added' | 'removed'}`
  | `${'site' | 'form' | 'category' | 'object' | 'workflow' | 'token'}.${'created' | 'changed' | 'removed'}`
  | 'content.imported'

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
