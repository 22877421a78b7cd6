import { ListObjectVersionsCommand, type ListObjectVersionsCommandOutput } from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { chunksOf } from '../../core/in-parallel.ts'
import { compareText } from '../../core/names.ts'
import { longestListing, type RemovedObject, type VersionQuery } from '../../storage/object-store.ts'
import { longestRequest, longestUpload, type UploadRecords } from '../../storage/uploads/upload.ts'
import { type Bucket, markOf, statusOf, unquote } from './bucket.ts'
import { type Doomed, deleteAll, deleteState } from './delete.ts'
import { decodeKey, headObject, toInfo } from './find.ts'

export interface State {
  readonly kind: 'version' | 'marker'
  readonly id: string
  // In epoch milliseconds, rounded to whole seconds.
  readonly at: number
  readonly size: number
  readonly tag: string
}

export interface ListPosition {
  readonly key: string
  readonly id?: string | undefined
}

type Listed = NonNullable<ListObjectVersionsCommandOutput['Versions']>[number]

const stateOf = (kind: State['kind'], { VersionId = '', LastModified, Size = 0, ETag }: Listed): State => ({
  kind,
  id: VersionId,
  at: LastModified?.getTime() ?? 0,
  size: Size,
  tag: unquote(ETag),
})

// The SDK lists versions and markers separately. If a marker and a version have the same second, the marker is treated
// as older if it may have hidden an older version, and if another marker has hidden this version.
const merged = (versions: readonly Listed[], markers: readonly Listed[]): State[] => {
  const left = markers.map((marker) => stateOf('marker', marker))
  const states = versions.flatMap((listed, index) => {
    const version = stateOf('version', listed)
    const newer = left.filter(({ at }) => at > version.at).length
    const hasOlder = index < versions.length - 1
    const count = hasOlder && newer > 0 ? newer : left.filter(({ at }) => at >= version.at).length
    return [...left.splice(0, listed.IsLatest ? 0 : count), version]
  })
  return [...states, ...left]
}

interface PageQuery {
  readonly prefix: string
  readonly folded: boolean
  readonly after: ListPosition | undefined
  readonly limit?: number
}

export const listPage = async ({ client, name, options }: Bucket, query: PageQuery) => {
  const { prefix, folded, after, limit = longestListing } = query
  const command = new ListObjectVersionsCommand({
    Bucket: name,
    Prefix: prefix,
    EncodingType: 'url',
    MaxKeys: limit,
    ...(folded && { Delimiter: '/' }),
    ...(after && { KeyMarker: after.key, VersionIdMarker: after.id }),
  })
  const output = await client.send(command, options).catch((error: unknown) => {
    const isVersionGone = after?.id !== undefined && statusOf(error) === 400
    throw isVersionGone ? new ServiceError('unavailable', { cause: error }) : error
  })
  // MiniStack 1.5.33 ignores EncodingType, and does not name it in its answer.
  const keyOf = (key = '') => (output.EncodingType === 'url' ? decodeKey(key) : key)
  const byKey = (listed: readonly Listed[] = []) => Map.groupBy(listed, ({ Key }) => keyOf(Key))
  const [versions, markers] = [byKey(output.Versions), byKey(output.DeleteMarkers)]
  const keys = [...new Set([...versions.keys(), ...markers.keys()])].sort(compareText)
  return {
    states: new Map(keys.map((key) => [key, merged(versions.get(key) ?? [], markers.get(key) ?? [])])),
    folders: (output.CommonPrefixes ?? []).map(({ Prefix }) => keyOf(Prefix)),
    next: output.IsTruncated
      ? { key: keyOf(output.NextKeyMarker), id: output.NextVersionIdMarker || undefined }
      : undefined,
  }
}

export type Page = Awaited<ReturnType<typeof listPage>>

/**
 * All states below a prefix, page by page, the newest of each key first. When `isDone` is true, the remaining states of
 * the key are skipped.
 */
export async function* statesBelow(bucket: Bucket, prefix: string, isDone: (key: string) => boolean = () => false) {
  let after: ListPosition | undefined
  do {
    const { states, next }: Page = await listPage(bucket, { prefix, folded: false, after })
    yield states
    after = next && isDone(next.key) ? { key: next.key } : next
  } while (after)
}

// In milliseconds: the longest time of a change (one minute), the differences of clocks, and whole seconds.
const mayBeUndoneFor = 62_000

const isInParts = ({ tag }: State): boolean => tag.includes('-')

// An object in parts has the time when its upload began.
const settlesAt = (state: State): number => state.at + mayBeUndoneFor + (isInParts(state) ? longestRequest : 0)

interface Uploads extends Pick<UploadRecords, 'get'> {
  now(): number
}

// Only an open upload can be undone. If the version is gone at the second look, the upload ended because it was undone.
const mayBeUndone = async (bucket: Bucket, key: string, id: string, uploads: Uploads): Promise<boolean> => {
  const mark = markOf(await headObject(bucket, key, id))
  const upload = mark === undefined ? undefined : await uploads.get(mark)
  return upload?.isComplete === false || !(await headObject(bucket, key, id))
}

const findSettled = async (bucket: Bucket, key: string, state: State, uploads: Uploads): Promise<number> => {
  const [at, now] = [settlesAt(state), uploads.now()]
  const isLong = isInParts(state) && at <= now && now < at + longestUpload
  return isLong && (await mayBeUndone(bucket, key, state.id, uploads)) ? now + mayBeUndoneFor : at
}

// A version is needed until one newer state is certain to stay. A marker may be older than a version in parts that
// follows it, unless the marker is the newest state (see `merged`).
const neededTimes = async (bucket: Bucket, key: string, states: readonly State[], uploads: Uploads) => {
  const times: number[] = []
  let [earliest, certain] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (const state of states) {
    const isFirst = times.length === 0
    times.push(isInParts(state) ? certain : earliest)
    if (certain <= uploads.now()) continue
    const settled = await findSettled(bucket, key, state, uploads)
    earliest = Math.min(earliest, settled)
    if (isFirst || state.kind === 'version') certain = Math.min(certain, settled)
  }
  return times
}

const versionsAmong = (states: readonly State[], isFromStart: boolean, times: readonly number[] = []) => {
  const newest = states.findIndex(({ kind }) => kind === 'version')
  return states.flatMap(({ kind, id, at, size, tag }, index) => {
    if (kind === 'marker') return []
    const next = states[index - 1]
    const isRemoved = next?.kind === 'marker'
    const isNewest = isFromStart && index === newest
    return {
      id,
      at,
      size,
      tag,
      isRemoved,
      isCurrent: isNewest && !isRemoved,
      ...(next && { goneAt: next.at, neededUntil: times[index] }),
      ...(isNewest && isRemoved && { hiddenBy: states.slice(0, index).map((marker) => marker.id) }),
    }
  })
}

export const findVersion = async (bucket: Bucket, key: string, id: string) => {
  try {
    const head = await headObject(bucket, key, id)
    return head && toInfo(key, head)
  } catch (error) {
    if (statusOf(error) === 405) return undefined
    if (statusOf(error) !== 400) throw error
    // S3 gives no reason when it refuses a HEAD. If the version id is not the reason, S3 also refuses the key alone.
    await headObject(bucket, key)
    return undefined
  }
}

// The number of states to read: a delete marker for each version, and a few more.
const statesFor = (versions: number): number => Math.min(longestListing, 2 * versions + 4)

/**
 * Implements `ObjectStore.versions`. S3 refuses to continue after an unknown version, so this function checks the
 * version first. Without `uploads`, there is no `neededUntil`.
 */
export const listVersions = async (bucket: Bucket, key: string, { after, limit }: VersionQuery, uploads?: Uploads) => {
  if (after !== undefined && !(await findVersion(bucket, key, after))) return undefined
  const states: State[] = []
  const count = () => states.filter(({ kind }) => kind === 'version').length
  let position: ListPosition | undefined = after === undefined ? undefined : { key, id: after }
  do {
    const page: Page = await listPage(bucket, { prefix: key, folded: false, after: position, limit: statesFor(limit) })
    states.push(...(page.states.get(key) ?? []))
    position = page.next?.key === key ? page.next : undefined
  } while (position && count() <= limit)
  const times = uploads && (await neededTimes(bucket, key, states, uploads))
  const found = versionsAmong(states, after === undefined, times)
  const versions = found.slice(0, limit)
  return { versions, next: found.length > limit ? versions.at(-1)?.id : undefined }
}

/** Implements `ObjectStore.purge` in batches. After each batch, yields the number of deleted versions. */
export async function* deleteVersions(bucket: Bucket, versions: readonly RemovedObject[]) {
  // A restore that began earlier removes only the delete markers that it knows, so it never uncovers an older version.
  for (const { key, hiddenBy } of versions) {
    if (hiddenBy) await deleteState(bucket, key)
  }
  for (const some of chunksOf(versions, longestListing)) {
    const doomed = some.map(({ key, id }): Doomed => ({ kind: 'version', key, versionId: id }))
    await deleteAll(bucket, doomed)
    yield some.length
  }
}

export const countKept = async (bucket: Bucket, prefix: string) => {
  let [count, bytes] = [0, 0]
  let last: string | undefined
  for await (const page of statesBelow(bucket, prefix)) {
    for (const [key, states] of page) {
      // The first state of a key is the current version or a marker.
      const old = (key === last ? states : states.slice(1)).filter(({ kind }) => kind === 'version')
      count += old.length
      bytes += old.reduce((sum, { size }) => sum + size, 0)
      last = key
    }
  }
  return { count, bytes }
}
