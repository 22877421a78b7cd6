import { ListObjectVersionsCommand, type ListObjectVersionsCommandOutput } from '@aws-sdk/client-s3'
import { longestListing } from '../../storage/object-store.ts'
import { type Bucket, unquote } from './bucket.ts'
import { compareKeys, decodeKey } from './looking.ts'

/** What a bucket has under a key: an object as it is or was, or a marker that hides what is older. */
export interface State {
  readonly kind: 'version' | 'marker'
  readonly id: string
  /** Whole seconds, in milliseconds since the epoch. */
  readonly at: number
  readonly size: number
  readonly tag: string
}

/** Where a listing goes on: behind a key, or behind one state of it. */
export interface Place {
  readonly key: string
  readonly id?: string | undefined
}

export interface Page {
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

interface PageQuery {
  readonly prefix: string
  /** Whether what lies below a folder counts as that folder alone. */
  readonly folded: boolean
  readonly after: Place | undefined
  /** How many states and folders at the most. */
  readonly limit?: number
}

/** One listing of states. Those of one key may go on in the next one. */
export const listPage = async (
  { client, name, options }: Bucket,
  { prefix, folded, after, limit = longestListing }: PageQuery,
): Promise<Page> => {
  const output = await client.send(
    new ListObjectVersionsCommand({
      Bucket: name,
      Prefix: prefix,
      EncodingType: 'url',
      MaxKeys: limit,
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

/**
 * All states below a prefix, listing by listing: key by key, the newest first. Those of one key may go on in the next listing, and are not
 * gathered, as there may be any number of them. `isDone` is asked whether enough of a key is known, so that the rest of it is passed over.
 */
export async function* statesBelow(
  bucket: Bucket,
  prefix: string,
  isDone: (key: string) => boolean = () => false,
): AsyncGenerator<Page['states'], void> {
  let after: Place | undefined
  do {
    const { states, next }: Page = await listPage(bucket, { prefix, folded: false, after })
    yield states
    after = next && isDone(next.key) ? { key: next.key } : next
  } while (after)
}
