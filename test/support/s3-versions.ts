import { noSuchKey, preconditionFailed, Refusal, unquote } from './s3-messages.ts'
import type { Piece } from './s3-pieces.ts'

export interface Version {
  readonly id: string
  readonly etag: string
  /** Undefined for a delete marker. */
  readonly pieces?: readonly Piece[]
  readonly modified: Date
  readonly type: string
  readonly metadata: Readonly<Record<string, string>>
}

export type Content = Version & { readonly pieces: readonly Piece[] }

const hasContent = (version: Version): version is Content => version.pieces !== undefined

const isPlain = (text: string) => /^[ -~]*$/.test(text)
/** Sorts keys in the byte order of UTF-8, which equals the character order for ASCII. */
export const compare = (a: string, b: string) => {
  if (isPlain(a) && isPlain(b)) return a < b ? -1 : Number(a > b)
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** S3 refuses a name that it never gives to versions, and a marker for which the key has no version. */
export const invalidArgument = () => new Refusal(400, 'InvalidArgument')

export type Versions = ReturnType<typeof createVersions>

export const createVersions = () => {
  /** Versions by key, the newest first. */
  const objects = new Map<string, Version[]>()
  let count = 0
  const keys: string[] = []
  const countBefore = (isBefore: (key: string) => boolean): number => {
    let [low, high] = [0, keys.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(keys[middle] ?? '')) low = middle + 1
      else high = middle
    }
    return low
  }
  const startOf = (text: string) => countBefore((key) => compare(key, text) < 0)
  const startBehind = (after: string, prefix: string) => startOf(compare(after, prefix) > 0 ? after : prefix)
  const endOf = (prefix: string) => countBefore((key) => key.startsWith(prefix) || compare(key, prefix) < 0)

  const present = (key: string): Content | undefined => {
    const version = objects.get(key)?.[0]
    return version && hasContent(version) ? version : undefined
  }
  /** The date of an object in parts is the moment when its upload began ("Object metadata" in the user guide). */
  const add = (key: string, version: Omit<Version, 'id' | 'modified'>, begun?: number): Version => {
    count += 1
    const before = objects.get(key) ?? []
    // Versions of a key have different times, so their order is known.
    const modified = new Date(begun ?? Math.max(Date.now(), (before[0]?.modified.getTime() ?? 0) + 1))
    const added = { ...version, id: `version-${count}`, modified }
    if (before.length === 0) keys.splice(startOf(key), 0, key)
    objects.set(key, [added, ...before])
    return added
  }
  const hide = (key: string, match: string | undefined): Version => {
    const version = present(key)
    if (match !== undefined && !version) throw noSuchKey()
    if (match !== undefined && unquote(match) !== version?.etag) throw preconditionFailed()
    return add(key, { etag: '', type: '', metadata: {} })
  }
  const removeVersion = (key: string, version: string): void => {
    const left = objects.get(key)?.filter(({ id }) => id !== version) ?? []
    if (left.length > 0) objects.set(key, left)
    else if (objects.delete(key)) keys.splice(startOf(key), 1)
  }
  const stateOf = (key: string, wanted: string | undefined | null): Content => {
    if (wanted && !/^version-\d+$/.test(wanted)) throw invalidArgument()
    const version = wanted ? objects.get(key)?.find(({ id }) => id === wanted) : present(key)
    if (!version) throw noSuchKey()
    if (!hasContent(version)) throw new Refusal(405, 'MethodNotAllowed')
    return version
  }

  const versionsOf = (key: string): readonly Version[] => objects.get(key) ?? []
  return { present, add, hide, removeVersion, stateOf, endOf, startBehind, keys, versionsOf }
}
