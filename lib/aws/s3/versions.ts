import { GetObjectCommand, type HeadObjectCommandOutput } from '@aws-sdk/client-s3'
import {
  type ByteRange,
  type Kept,
  longestListing,
  type ObjectInfo,
  type ObjectVersion,
  type ReadObject,
  type VersionQuery,
  type Versions,
} from '../../storage/object-store.ts'
import { type Bucket, isMalformed, isMarker } from './bucket.ts'
import { headObject, toInfo } from './looking.ts'
import { bodyOf } from './reading.ts'
import { listPage, type Page, type Place, type State, statesBelow } from './states.ts'

/** The versions among some states. With `isFromStart` there is nothing newer. */
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

const headVersion = async (bucket: Bucket, key: string, id: string): Promise<HeadObjectCommandOutput | undefined> => {
  try {
    return await headObject(bucket, key, id)
  } catch (error) {
    if (isMarker(error)) return undefined
    if (!isMalformed(error)) throw error
    // S3 gives no reason for a HEAD. If the version's name was not the fault, the key alone is refused too.
    await headObject(bucket, key)
    return undefined
  }
}

// A marker for each version, and a few more.
const statesFor = (versions: number): number => Math.min(longestListing, 2 * versions + 4)

/** `ObjectStore.versions`. S3 refuses to continue after an unknown version, so that is checked first. */
export const listVersions = async (
  bucket: Bucket,
  key: string,
  { after, limit }: VersionQuery,
): Promise<Versions | undefined> => {
  if (after !== undefined && !(await headVersion(bucket, key, after))) return undefined
  const states: State[] = []
  const count = () => states.filter(({ kind }) => kind === 'version').length
  let place: Place | undefined = after === undefined ? undefined : { key, id: after }
  do {
    const page: Page = await listPage(bucket, { prefix: key, folded: false, after: place, limit: statesFor(limit) })
    states.push(...(page.states.get(key) ?? []))
    // Longer keys with this prefix follow.
    place = page.next?.key === key ? page.next : undefined
  } while (place && count() <= limit)
  const found = versionsAmong(states, after === undefined)
  const versions = found.slice(0, limit)
  return { versions, next: found.length > limit ? versions.at(-1)?.id : undefined }
}

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

/** `ObjectStore.keptBelow`: lists every version. */
export const countKept = async (bucket: Bucket, prefix: string): Promise<Kept> => {
  let [count, bytes] = [0, 0]
  let last: string | undefined
  for await (const page of statesBelow(bucket, prefix)) {
    for (const [key, states] of page) {
      // The first state of a key is current, or a marker.
      const old = (key === last ? states : states.slice(1)).filter(({ kind }) => kind === 'version')
      count += old.length
      bytes += old.reduce((sum, { size }) => sum + size, 0)
      last = key
    }
  }
  return { count, bytes }
}
