import { ListObjectVersionsCommand, type ListObjectVersionsCommandOutput } from '@aws-sdk/client-s3'
import { longestListing } from '../../storage/object-store.ts'
import { type Bucket, unquote } from './bucket.ts'
import { compareKeys, decodeKey } from './looking.ts'

/** A version of an object, or a delete marker. */
export interface State {
  readonly kind: 'version' | 'marker'
  readonly id: string
  /** Epoch milliseconds, in whole seconds. */
  readonly at: number
  readonly size: number
  readonly tag: string
}

/** A listing continues after a key, or after one state of it. */
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

// The SDK lists versions and markers separately. In the same second the marker counts as newer, unless the version is current.
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
  /** Lists a folder instead of its content. */
  readonly folded: boolean
  readonly after: Place | undefined
  /** At most so many states and folders. */
  readonly limit?: number
}

/** The states of one key may continue on the next page. */
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

/** All states below a prefix, page by page, the newest of each key first. `isDone` skips the remaining states of a key. */
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
