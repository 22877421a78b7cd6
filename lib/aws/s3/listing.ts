import { ListObjectsV2Command, type ListObjectsV2CommandOutput } from '@aws-sdk/client-s3'
import type { ListedObject, Listing, ListQuery } from '../../storage/object-store.ts'
import { type Bucket, noteLack, unquote } from './bucket.ts'

/** Keys come in the form of a query, so that even what XML cannot hold comes through. */
const decodeKey = (key: string | undefined): string => decodeURIComponent(key?.replaceAll('+', ' ') ?? '')

const toListed =
  (read: typeof decodeKey) =>
  ({ Key, Size, LastModified, ETag }: NonNullable<ListObjectsV2CommandOutput['Contents']>[number]): ListedObject => ({
    key: read(Key),
    size: Size ?? 0,
    modified: LastModified?.getTime() ?? 0,
    version: unquote(ETag),
  })

const compareKeys = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** The greatest character there is: what lies in a folder comes before the folder's key with this behind it. */
const lastCharacter = '\u{10ffff}'

/** Every key of ours begins with a letter of ASCII: behind this one there is none. */
const behindAllKeys = '\u00e9'

/**
 * Whether going on with a listing finds what is behind a name. LocalStack compares names in the form of a query with each other, and
 * passes over what is not ASCII: there, something is found behind everything. It is asked once in the life of a store.
 */
const createOrderCheck = (bucket: Bucket): (() => Promise<boolean>) => {
  const ask = async (): Promise<boolean> => {
    const { Contents = [] } = await bucket.client.send(
      new ListObjectsV2Command({ Bucket: bucket.name, MaxKeys: 1, EncodingType: 'url', StartAfter: behindAllKeys }),
    )
    if (Contents.length === 0) return true
    noteLack(bucket, 'listings in the order of names', 'names come as they are, and must be such as XML can hold')
    return false
  }
  let asked: Promise<boolean> | undefined
  return () => {
    asked ??= ask().catch((error: unknown) => {
      asked = undefined
      throw error
    })
    return asked
  }
}

/** How a bucket is listed (`ObjectStore.list`). */
export const createListing = (bucket: Bucket): ((query: ListQuery) => Promise<Listing>) => {
  const { client, name } = bucket
  const isInOrder = createOrderCheck(bucket)

  const ask = async ({ prefix, folded, after, limit }: ListQuery, isEncoded: boolean): Promise<Listing> => {
    const isFolder = folded && after?.endsWith('/') && after !== prefix
    const page = await client.send(
      new ListObjectsV2Command({
        Bucket: name,
        Prefix: prefix,
        MaxKeys: limit,
        ...(isEncoded && { EncodingType: 'url' }),
        ...(folded && { Delimiter: '/' }),
        ...(after !== undefined && { StartAfter: isFolder ? `${after}${lastCharacter}` : after }),
      }),
    )
    const read = isEncoded ? decodeKey : (key: string | undefined) => key ?? ''
    const objects = (page.Contents ?? []).map(toListed(read))
    const folders = (page.CommonPrefixes ?? [])
      .map(({ Prefix }) => read(Prefix))
      .filter((folder) => after === undefined || compareKeys(folder, after) > 0)
    const last = [objects.at(-1)?.key, folders.at(-1)].filter((key) => key !== undefined).sort(compareKeys)
    return { objects, folders, next: page.IsTruncated ? last.at(-1) : undefined }
  }

  return async (query) => {
    if (query.after === undefined) return ask(query, true)
    const [listing, isRight] = await Promise.all([ask(query, true), isInOrder()])
    return isRight ? listing : ask(query, false)
  }
}
