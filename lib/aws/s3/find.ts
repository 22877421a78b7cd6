import { HeadObjectCommand, type HeadObjectCommandOutput, ListObjectsV2Command } from '@aws-sdk/client-s3'
import { compareText } from '../../core/names.ts'
import {
  type ListedObject,
  type Listing,
  type ListQuery,
  longestListing,
  type ObjectInfo,
} from '../../storage/object-store.ts'
import { type Bucket, isMissing, markOf, noteLack, unquote } from './bucket.ts'

export const headObject = async ({ client, name, options }: Bucket, key: string, VersionId?: string) => {
  try {
    return await client.send(new HeadObjectCommand({ Bucket: name, Key: key, VersionId }), options)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export const findMarked = async (bucket: Bucket, key: string, mark: string): Promise<string | undefined> => {
  const head = await headObject(bucket, key)
  return markOf(head) === mark ? head?.VersionId : undefined
}

/** A source that another program has stored may have no mark. Then this compares the bytes. */
export const findCopy = async (bucket: Bucket, from: Pick<ListedObject, 'key' | 'version'>, key: string) => {
  const copy = await headObject(bucket, key)
  if (!copy) return undefined
  const mark = markOf(await headObject(bucket, from.key))
  const isOwn = mark ? markOf(copy) === mark : unquote(copy.ETag) === from.version
  return isOwn ? copy.VersionId : undefined
}

const toListed = (
  key: string,
  size = 0,
  { LastModified, ETag }: Pick<HeadObjectCommandOutput, 'LastModified' | 'ETag'>,
): ListedObject => ({
  key,
  size,
  modified: LastModified?.getTime() ?? 0,
  version: unquote(ETag),
  fingerprint: unquote(ETag),
})

export const toInfo = (key: string, head: Partial<HeadObjectCommandOutput>): ObjectInfo => ({
  ...toListed(key, head.ContentLength, head),
  contentType: head.ContentType ?? 'application/octet-stream',
  ...(head.VersionId !== undefined && { versionId: head.VersionId }),
})

export const findObject = async (bucket: Bucket, key: string): Promise<ObjectInfo | undefined> => {
  const head = await headObject(bucket, key)
  return head && toInfo(key, head)
}

/** Listed keys are URL-encoded, because XML cannot contain some of them. */
export const decodeKey = (key: string): string => decodeURIComponent(key.replaceAll('+', ' '))

export const isAtOrBelow = (key: string, other: string): boolean =>
  key === other || (other.endsWith('/') && key.startsWith(other))

const mostBytesOfKey = 1_024
const greatest = '\u{10ffff}'

/** A key that sorts after everything in a folder. A name may consist of the greatest character, too. */
export const endOfFolder = (folder: string): string =>
  folder + greatest.repeat(Math.max(mostBytesOfKey - Buffer.byteLength(folder), 0) / Buffer.byteLength(greatest))

const listOnce = async (bucket: Bucket, listing: ListQuery, isEncoded = true, token?: string): Promise<Listing> => {
  const { prefix, folded, after, limit } = listing
  const isAfterFolder = folded && after?.endsWith('/') && after !== prefix
  const query = new ListObjectsV2Command({
    Bucket: bucket.name,
    Prefix: prefix,
    MaxKeys: limit,
    ...(isEncoded && { EncodingType: 'url' }),
    ...(folded && { Delimiter: '/' }),
    ...(after !== undefined && { StartAfter: isAfterFolder ? endOfFolder(after) : after }),
    ContinuationToken: token,
  })
  const { client, options } = bucket
  const { Contents = [], CommonPrefixes = [], IsTruncated, NextContinuationToken } = await client.send(query, options)
  const isEmpty = Contents.length + CommonPrefixes.length === 0
  // S3 may answer a page without objects, although objects follow.
  if (isEmpty && NextContinuationToken) return listOnce(bucket, listing, isEncoded, NextContinuationToken)
  const keyOf = (key = '') => (isEncoded ? decodeKey(key) : key)
  const objects = Contents.map((listed) => toListed(keyOf(listed.Key), listed.Size, listed))
  const folders = CommonPrefixes.map(({ Prefix }) => keyOf(Prefix))
  const last = [objects.at(-1)?.key, folders.at(-1)].filter((key) => key !== undefined).sort(compareText)
  return { objects, folders, next: IsTruncated ? last.at(-1) : undefined }
}

// No key of the service follows this key, because all keys start with an ASCII letter.
const afterAllKeys = '\u00e9'

// LocalStack 4.14.0 compares names in their URL-encoded form, and so skips names that are not ASCII. There, a listing
// after this key returns objects.
const isSortedByBytes = async (bucket: Bucket): Promise<boolean> => {
  const { objects } = await listOnce(bucket, { prefix: '', folded: false, after: afterAllKeys, limit: 1 })
  if (objects.length === 0) return true
  noteLack(bucket, 'listings sorted by name')
  return false
}

/** Implements `ObjectStore.list`. The first listing that continues tests how the store compares names. */
export const listObjects = async (bucket: Bucket, query: ListQuery) => {
  if (query.after === undefined) return listOnce(bucket, query)
  const { known } = bucket
  known.isSortedByBytes ??= isSortedByBytes({ ...bucket, options: {} }).catch((error: unknown) => {
    delete known.isSortedByBytes
    throw error
  })
  const [listing, isRight] = await Promise.all([listOnce(bucket, query), known.isSortedByBytes])
  return isRight ? listing : listOnce(bucket, query, false)
}

export const existsBelow = async (bucket: Bucket, prefix: string): Promise<boolean> =>
  (await listOnce(bucket, { prefix, folded: false, limit: 1 })).objects.length > 0

const isFolder = (key: string) => key.endsWith('/')
const parentOf = (folder: string) => folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1)

// For two or more folders of one parent, one listing replaces a listing of each.
const existingFolders = async (bucket: Bucket, [parent, folders]: readonly [string, readonly string[]]) => {
  const listing =
    folders.length > 1 ? await listOnce(bucket, { prefix: parent, folded: true, limit: longestListing }) : undefined
  if (listing && listing.next === undefined) return listing.folders
  const found = await Promise.all(folders.map((folder) => existsBelow(bucket, folder)))
  return folders.filter((_, index) => found[index])
}

/** The first of the keys that exists. A key that ends with `/` also exists if there is an object below it. */
export const findRival = async (bucket: Bucket, keys: readonly string[]): Promise<string | undefined> => {
  const folders = [...Map.groupBy(keys.filter(isFolder), parentOf)]
  const [existing, objects] = await Promise.all([
    Promise.all(folders.map((some) => existingFolders(bucket, some))),
    Promise.all(keys.map((key) => (isFolder(key) ? undefined : headObject(bucket, key)))),
  ])
  const taken = new Set(existing.flat())
  return keys.find((key, index) => taken.has(key) || objects[index])
}
