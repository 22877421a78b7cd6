import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
} from '@aws-sdk/client-s3'
import { inParallel } from '../../in-parallel.ts'
import {
  type ByteRange,
  type Kept,
  longestListing,
  type ObjectInfo,
  type ObjectVersion,
  type Period,
  type ReadObject,
  type RemovedEntry,
  type RemovedListing,
  type RemovedObject,
  type RemovedQuery,
  type VersionQuery,
  type Versions,
} from '../../storage/object-store.ts'
import { type Bucket, isUnknownVersion, unquote } from './bucket.ts'
import { compareKeys, decodeKey, existsBelow, lastCharacter, toInfo } from './looking.ts'
import { bodyOf } from './reading.ts'

/** What a bucket has under a key: an object as it is or was, or a marker that hides what is older. */
interface State {
  readonly kind: 'version' | 'marker'
  readonly id: string
  /** Whole seconds, in milliseconds since the epoch. */
  readonly at: number
  readonly size: number
  readonly tag: string
}

interface Place {
  readonly key: string
  readonly id?: string | undefined
}

interface Page {
  /** By key, the newest first. */
  readonly states: ReadonlyMap<string, readonly State[]>
  readonly folders: readonly string[]
  readonly next: Place | undefined
}

type Listed = NonNullable<ListObjectVersionsCommandOutput['Versions']>[number]

const stateOf = (kind: State['kind'], { VersionId = '', LastModified, Size = 0, ETag }: Listed): State => ({
  kind,
  id: VersionId,
  at: LastModified?.getTime() ?? 0,
  size: Size,
  tag: unquote(ETag),
})

/**
 * Versions and markers of one key in one order. The SDK gives them apart, each in order, and moments are whole seconds: of two in the same one, the
 * marker is taken to be newer, unless the version is the present one.
 */
const merged = (versions: readonly Listed[], markers: readonly Listed[]): State[] => {
  const states: State[] = []
  const left = [...markers]
  for (const version of versions) {
    const isNewer = (marker: Listed) => !version.IsLatest && (marker.LastModified ?? 0) >= (version.LastModified ?? 0)
    for (let [marker] = left; marker && isNewer(marker); [marker] = left) {
      states.push(stateOf('marker', marker))
      left.shift()
    }
    states.push(stateOf('version', version))
  }
  return [...states, ...left.map((marker) => stateOf('marker', marker))]
}

const listPage = async (
  { client, name, options }: Bucket,
  { prefix, folded, after }: { readonly prefix: string; readonly folded: boolean; readonly after: Place | undefined },
): Promise<Page> => {
  const output = await client.send(
    new ListObjectVersionsCommand({
      Bucket: name,
      Prefix: prefix,
      EncodingType: 'url',
      MaxKeys: longestListing,
      ...(folded && { Delimiter: '/' }),
      ...(after && { KeyMarker: after.key, VersionIdMarker: after.id }),
    }),
    options,
  )
  const byKey = (listed: readonly Listed[] = []) => Map.groupBy(listed, ({ Key }) => decodeKey(Key))
  const [versions, markers] = [byKey(output.Versions), byKey(output.DeleteMarkers)]
  const keys = [...new Set([...versions.keys(), ...markers.keys()])].sort(compareKeys)
  return {
    states: new Map(keys.map((key) => [key, merged(versions.get(key) ?? [], markers.get(key) ?? [])])),
    folders: (output.CommonPrefixes ?? []).map(({ Prefix }) => decodeKey(Prefix)),
    next: output.IsTruncated
      ? { key: decodeKey(output.NextKeyMarker), id: output.NextVersionIdMarker || undefined }
      : undefined,
  }
}

/** The versions among some states of an object; `isFromStart` says that there is nothing newer. */
const versionsAmong = (states: readonly State[], isFromStart: boolean): readonly ObjectVersion[] => {
  const newest = states.findIndex(({ kind }) => kind === 'version')
  return states.flatMap(({ kind, id, at, size, tag }, index) => {
    if (kind === 'marker') return []
    const next = states[index - 1]
    const isRemoved = next?.kind === 'marker'
    const isNewest = isFromStart && index === newest
    return {
      ...{ id, at, size, tag, isRemoved },
      isCurrent: isNewest && !isRemoved,
      ...(next && { goneAt: next.at }),
      ...(isNewest && isRemoved && { hiddenBy: states.slice(0, index).map((marker) => marker.id) }),
    }
  })
}

/** `ObjectStore.versions`. */
export const listVersions = async (bucket: Bucket, key: string, { after, limit }: VersionQuery): Promise<Versions> => {
  const states: State[] = []
  const count = () => states.filter(({ kind }) => kind === 'version').length
  let place: Place | undefined = after === undefined ? undefined : { key, id: after }
  do {
    const page: Page = await listPage(bucket, { prefix: key, folded: false, after: place })
    states.push(...(page.states.get(key) ?? []))
    // What else begins with that key comes behind it.
    place = page.next?.key === key ? page.next : undefined
  } while (place && count() <= limit)
  const found = versionsAmong(states, after === undefined)
  const versions = found.slice(0, limit)
  return { versions, next: found.length > limit ? versions.at(-1)?.id : undefined }
}

const headVersion = async ({ client, name, options }: Bucket, key: string, id: string) => {
  try {
    return await client.send(new HeadObjectCommand({ Bucket: name, Key: key, VersionId: id }), options)
  } catch (error) {
    if (isUnknownVersion(error)) return undefined
    throw error
  }
}

/** What one state of an object is; undefined when there is none of that name. */
export const findVersion = async (bucket: Bucket, key: string, id: string): Promise<ObjectInfo | undefined> => {
  const head = await headVersion(bucket, key, id)
  return head && toInfo(key, head)
}

/** `ObjectStore.readVersion`. */
export const readVersion = async (
  bucket: Bucket,
  key: string,
  id: string,
  choose: (info: ObjectInfo) => ByteRange | undefined,
): Promise<ReadObject | undefined> => {
  const info = await findVersion(bucket, key, id)
  if (!info) return undefined
  const range = choose(info)
  if (!range || range.last < range.first) return { info }
  const { client, name, options } = bucket
  const Range = `bytes=${range.first}-${range.last}`
  const body = bodyOf(
    await client.send(new GetObjectCommand({ Bucket: name, Key: key, VersionId: id, Range }), options),
  )
  return { info, ...(body && { body }) }
}

/** All states below a prefix, key by key and the newest first; those of one key may take more than a page. */
async function* statesBelow(
  bucket: Bucket,
  prefix: string,
): AsyncGenerator<readonly (readonly [key: string, states: readonly State[]])[], void> {
  let begun: [string, readonly State[]] | undefined
  let after: Place | undefined
  do {
    const { states, next }: Page = await listPage(bucket, { prefix, folded: false, after })
    const found = [...states]
    const [first] = found
    if (begun && first && first[0] === begun[0]) found[0] = [begun[0], [...begun[1], ...first[1]]]
    else if (begun) found.unshift(begun)
    begun = next ? found.pop() : undefined
    yield found
    after = next
  } while (after)
}

/** The state in which an object was when the last of these markers hid it. */
const removedBy = (
  key: string,
  states: readonly State[],
  isMarker: (state: State) => boolean,
): RemovedObject | undefined => {
  const at = states.findIndex(isMarker)
  if (at < 0) return undefined
  const version = states.slice(at).find(({ kind }) => kind === 'version')
  if (!version) return undefined
  const newer = states.slice(0, states.indexOf(version))
  const isHidden = newer.every(({ kind }) => kind === 'marker')
  return { key, id: version.id, tag: version.tag, ...(isHidden && { hiddenBy: newer.map(({ id }) => id) }) }
}

/** The clocks of a bucket and of whoever asks it differ a little, and a bucket's tells whole seconds. */
const slack = 1_000

/** `ObjectStore.removedWithin`. */
export async function* listRemovedWithin(
  bucket: Bucket,
  prefix: string,
  { from, to }: Period,
): AsyncGenerator<readonly RemovedObject[], void> {
  const isMarker = ({ kind, at }: State) => kind === 'marker' && at > from - slack - 1_000 && at <= to + slack
  for await (const page of statesBelow(bucket, prefix)) {
    yield page.flatMap(([key, states]) => removedBy(key, states, isMarker) ?? [])
  }
}

/** `ObjectStore.keptBelow`: every version there is has to be listed. */
export const countKept = async (bucket: Bucket, prefix: string): Promise<Kept> => {
  let [count, bytes] = [0, 0]
  for await (const page of statesBelow(bucket, prefix)) {
    // What stands first is the present state, or a marker.
    const old = page.flatMap(([, [, ...older]]) => older.filter(({ kind }) => kind === 'version'))
    count += old.length
    bytes += old.reduce((sum, { size }) => sum + size, 0)
  }
  return { count, bytes }
}

/** The object of that key, if it was removed and is not there again. */
const removedEntry = (key: string, states: readonly State[]): RemovedEntry | undefined => {
  const at = states.findIndex(({ kind }) => kind === 'version')
  const version = states[at]
  const marker = states[at - 1]
  return version && marker && { key, removedAt: marker.at, size: version.size }
}

/** How many folders are looked into at once. */
const looksAtOnce = 16

/** The folder, if nothing is there any more. Its removal was the last one in the first of its listing. */
const removedFolder = async (bucket: Bucket, folder: string): Promise<RemovedEntry | undefined> => {
  if (await existsBelow(bucket, folder)) return undefined
  const { states } = await listPage(bucket, { prefix: folder, folded: false, after: undefined })
  const markers = [...states.values()].flatMap((some) => some.filter(({ kind }) => kind === 'marker'))
  return { key: folder, removedAt: Math.max(0, ...markers.map(({ at }) => at)), size: null }
}

/** What of a page has gone, in order. Behind what was asked for, a folder may be told once more. */
const removedOn = async (
  bucket: Bucket,
  prefix: string,
  after: string | undefined,
  { states, folders }: Pick<Page, 'states' | 'folders'>,
): Promise<readonly RemovedEntry[]> => {
  const found = [...states].flatMap(([key, some]) => (key === prefix ? [] : (removedEntry(key, some) ?? [])))
  const behind = folders.filter((folder) => after === undefined || compareKeys(folder, after) > 0)
  await inParallel(behind, looksAtOnce, async (folder) => {
    const entry = await removedFolder(bucket, folder)
    if (entry) found.push(entry)
  })
  return found.sort((one, other) => compareKeys(one.key, other.key))
}

/** Where a listing goes on: behind all that lies in a folder. */
const behindKey = (key: string): Place => ({ key: key.endsWith('/') ? `${key}${lastCharacter}` : key })

/** A page whose last key is whole: the states of one key may take more than a page. */
const listWhole = async (bucket: Bucket, prefix: string, after: Place | undefined): Promise<Page> => {
  const page = await listPage(bucket, { prefix, folded: true, after })
  const states = new Map(page.states)
  let { next } = page
  while (next?.id !== undefined) {
    const { key } = next
    const more: Page = await listPage(bucket, { prefix: key, folded: false, after: next })
    states.set(key, [...(states.get(key) ?? []), ...(more.states.get(key) ?? [])])
    next = more.next?.key === key ? more.next : { key }
  }
  return { ...page, states, next: next && behindKey(next.key) }
}

/** `ObjectStore.listRemoved`. */
export const listRemoved = async (bucket: Bucket, { prefix, after, limit }: RemovedQuery): Promise<RemovedListing> => {
  const entries: RemovedEntry[] = []
  let place = after === undefined ? undefined : behindKey(after)
  do {
    const page: Page = await listWhole(bucket, prefix, place)
    entries.push(...(await removedOn(bucket, prefix, after, page)))
    place = page.next
  } while (place && entries.length <= limit)
  const shown = entries.slice(0, limit)
  return { entries: shown, next: entries.length > limit ? shown.at(-1)?.key : undefined }
}
