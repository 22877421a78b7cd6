import { type SiteId, storedId } from './ids.ts'

const subjectKinds = ['site', 'form', 'category', 'object', 'workflow', 'token', 'webhook'] as const
const fates = ['created', 'changed', 'removed'] as const

export const changeTypes = [
  'file.stored',
  'file.removed',
  'file.moved',
  'file.copied',
  'file.restored',
  'file.purged',
  'folder.created',
  'folder.removed',
  'folder.restored',
  'field.created',
  'field.updated',
  'field.removed',
  'link.added',
  'link.removed',
  ...subjectKinds.flatMap((thing) => fates.map((fate) => `${thing}.${fate}` as const)),
  'content.imported',
  'webhook.disabled',
  'user.created',
  'user.changed',
  'user.removed',
  'user.invited',
  ...(['key', 'issuer', 'rule'] as const).flatMap((thing) => [`${thing}.created`, `${thing}.removed`] as const),
] as const

export type ChangeType = (typeof changeTypes)[number]

const kindOf = (type: string): string => type.slice(0, type.indexOf('.'))

/** V-2: the types, and patterns such as `file.*` that each match several types. */
export const typePatterns: readonly string[] = [
  ...changeTypes,
  ...new Set(changeTypes.map((type) => `${kindOf(type)}.*`)),
]

/** Without patterns, every type matches. */
export const isWantedType = (patterns: readonly string[], type: ChangeType): boolean =>
  patterns.length === 0 || patterns.includes(type) || patterns.includes(`${kindOf(type)}.*`)

export const readChangeType = (text: string): ChangeType | undefined => changeTypes.find((type) => type === text)

export const storedChangeType = (text: string): ChangeType => {
  const type = readChangeType(text)
  if (type) return type
  throw new Error(`The history has an unknown type of change: ${text}`)
}

// An alarm counts how often these words appear in the logs.
export const lostEntry = 'The history lacks a change'

export interface Author {
  readonly actor: string
  readonly requestId?: string
}

/**
 * The store adds time and id. Every port call that changes data takes an entry, except the steps of a larger change.
 * `actor` is the user of the token, or `admin:` and the user of the operating system. An entry never contains bodies,
 * tokens or query strings.
 */
export interface HistoryEntry extends Author {
  readonly site: SiteId
  readonly type: ChangeType
  readonly subject: string
  readonly details?: Readonly<Record<string, string | number | boolean | readonly (string | number)[]>>
}

const pathsOf = ({ subject, details }: Pick<HistoryEntry, 'subject' | 'details'>): readonly string[] => {
  const { names, to } = details ?? {}
  const uploaded = Array.isArray(names) ? names.map((name) => (subject === '' ? `${name}` : `${subject}/${name}`)) : []
  return [subject, ...uploaded, ...(typeof to === 'string' ? [to] : [])]
}

/**
 * V-34. With a slash at its end, `start` names a folder, which may be removed or moved as a whole. `start` is in NFC, as
 * all subjects are. NFC of 1,000 combining marks takes 2 ms, so callers compute it once, and not for each entry.
 */
export const isAbout = (entry: Pick<HistoryEntry, 'subject' | 'details'>, start: string): boolean =>
  start === '' || pathsOf(entry).some((path) => `${path}/`.startsWith(start))

export const withCount = (entry: HistoryEntry, count: number): HistoryEntry => ({
  ...entry,
  details: { ...entry.details, count },
})

/** An entry of the history of a site. */
export interface Change extends HistoryEntry {
  // Later entries of a site have larger positions. `at` is in milliseconds since the epoch.
  readonly position: number
  readonly at: number
}

const digits = 16

const shape = /^(\d{16})-([1-9]\d{0,14})$/

export const idOfChange = ({ site, position }: Pick<Change, 'site' | 'position'>): string =>
  `${String(position).padStart(digits, '0')}-${site}`

export const positionIn = (id: string, site: SiteId): number | undefined => {
  const [, position = '', ofSite = ''] = shape.exec(id) ?? []
  if (position === '' || storedId<SiteId>(ofSite) !== site) return undefined
  return Number.isSafeInteger(Number(position)) ? Number(position) : undefined
}

export const viewOfChange = (change: Change) => ({
  id: idOfChange(change),
  at: new Date(change.at).toISOString(),
  type: change.type,
  subject: change.subject,
  actor: change.actor,
  requestId: change.requestId ?? null,
  details: change.details ?? null,
})
