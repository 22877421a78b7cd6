import { type ErrorName, ServiceError } from './errors.ts'

export const areas = ['files', 'forms', 'categories', 'history', 'access'] as const
export type Area = (typeof areas)[number]

export type Level = 'read' | 'write'

/**
 * A-32, A-33. `folder` consists of segments in NFC, joined by `/`. It is empty for the whole area. Only rights on files
 * have a folder.
 */
export interface Right {
  readonly area: Area
  readonly level: Level
  readonly folder: string
}

export type AreaRight = `${Area}:${Level}`

/** The most rights or folders of one token, key, person or rule. */
export const mostEntries = 50

export const rightOf = (text: AreaRight): Right => {
  const [area, level] = text.split(':') as [Area, Level]
  return { area, level, folder: '' }
}

const shape = new RegExp(`^((?:${areas.join('|')}):(?:read|write))(?::(/.*))?$`, 's')

// Lone surrogates are not text (S-10).
export const forbiddenInPath = /[\p{Cc}\\\p{Cs}]/u

// In bytes of UTF-8 (S-11, S-12). Names that are far too long stay as they are: NFC of 30,000 combining marks takes more
// than a second.
export const longestPath = 900
export const longestSegment = 255

const normalized = (name: string): string => (name.length > 2 * longestSegment ? name : name.normalize('NFC'))

export const segmentsIn = (path: string): readonly string[] => path.split('/').filter(Boolean).map(normalized)

const isSegment = (name: string): boolean =>
  name !== '.' && name !== '..' && Buffer.byteLength(name) <= longestSegment && !forbiddenInPath.test(name)

export const parseRight = (text: string): Right | undefined => {
  const [, named, place = ''] = shape.exec(text) ?? []
  if (named === undefined) return undefined
  const right = rightOf(named as AreaRight)
  const segments = segmentsIn(place)
  const folder = segments.join('/')
  const isFolder = segments.every(isSegment) && Buffer.byteLength(folder) <= longestPath
  return isFolder && (place === '' || right.area === 'files') ? { ...right, folder } : undefined
}

export const parseFolder = (text: string): string | undefined => {
  const right = text.startsWith('/') ? parseRight(`files:write:${text}`) : undefined
  return right && `/${right.folder}`
}

/** Leaves out texts that name no right. */
export const parseRights = (texts: readonly string[]): readonly Right[] =>
  texts.map(parseRight).filter((right) => right !== undefined)

export const textOfRight = ({ area, level, folder }: Right): string =>
  `${area}:${level}${folder === '' ? '' : `:/${folder}`}`

const isWithin = (folder: string, path: string): boolean =>
  folder === '' || path === folder || path.startsWith(`${folder}/`)

const isAtLeast = (held: Right, { area, level }: Right): boolean =>
  held.area === area && (held.level === 'write' || held.level === level)

/**
 * A-32, A-41: compares whole segments in exact case. The folder of the needed right is the path of a file or folder.
 */
export const includesRight = (held: readonly Right[], needed: Right): boolean =>
  held.some((one) => isAtLeast(one, needed) && isWithin(one.folder, needed.folder))

export const foldersBelow = (held: readonly Right[], needed: Right): readonly string[] => {
  const below = held.filter((one) => isAtLeast(one, needed) && one.folder !== needed.folder)
  const folders = new Set(below.map(({ folder }) => folder).filter((folder) => isWithin(needed.folder, folder)))
  return [...folders].filter((folder) => ![...folders].some((other) => other !== folder && isWithin(other, folder)))
}

export const hasInAnyFolder = (held: readonly Right[], needed: Right): boolean =>
  includesRight(held, needed) || foldersBelow(held, needed).length > 0

export const simplified = (rights: readonly Right[]): readonly Right[] => {
  const distinct = [...new Map(rights.map((right) => [textOfRight(right), right])).values()]
  const othersOf = (one: Right) => distinct.filter((other) => other !== one)
  return distinct.filter((one) => !includesRight(othersOf(one), one))
}

const inBoth = (one: Right, other: Right): Right | undefined => {
  if (one.area !== other.area) return undefined
  const level = one.level === 'write' && other.level === 'write' ? 'write' : 'read'
  if (isWithin(one.folder, other.folder)) return { ...other, level }
  return isWithin(other.folder, one.folder) ? { ...one, level } : undefined
}

/** The rights that both sets include. */
export const commonRights = (some: readonly Right[], others: readonly Right[]): readonly Right[] =>
  simplified(some.flatMap((one) => others.map((other) => inBoth(one, other)).filter((right) => right !== undefined)))

export const requireRight = (
  held: readonly Right[],
  needed: Right,
  error: ErrorName = 'privilegesMissing',
  isHeld = includesRight,
): void => {
  if (isHeld(held, needed)) return
  throw new ServiceError(error, {
    message: `The right ${textOfRight(needed)} is missing. Ask an owner for it, or use a token that has it.`,
  })
}
