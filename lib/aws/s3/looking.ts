import {
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  ListObjectVersionsCommand,
} from '@aws-sdk/client-s3'
import { inParallel } from '../../core/in-parallel.ts'
import type { Expected, ListedObject, Listing, ListQuery, ObjectInfo } from '../../storage/object-store.ts'
import { type Bucket, isMissing, noteLack, unquote } from './bucket.ts'

export const headObject = async (
  { client, name, options }: Bucket,
  key: string,
  VersionId?: string,
): Promise<HeadObjectCommandOutput | undefined> => {
  try {
    return await client.send(new HeadObjectCommand({ Bucket: name, Key: key, VersionId }), options)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** How many versions of one object are looked at, and how many of them at once. */
const mostVersions = 1_000
const looksAtOnce = 16

/**
 * Whether a change has made a version of an object since a moment, whatever has become of the object after it: it may have been replaced or removed.
 */
export const wasMadeBy = async (bucket: Bucket, key: string, change: string, since: number): Promise<boolean> => {
  if ((await headObject(bucket, key))?.Metadata?.['change'] === change) return true
  const { client, name, options } = bucket
  // Those of the key itself come before all others that begin with it, the newest first.
  const query = new ListObjectVersionsCommand({ Bucket: name, Prefix: key, MaxKeys: mostVersions })
  const { Versions = [] } = await client.send(query, options)
  const late = Versions.filter(({ Key, LastModified }) => Key === key && (LastModified?.getTime() ?? 0) >= since)
  let isFound = false
  await inParallel(late, looksAtOnce, async ({ VersionId }) => {
    isFound ||= (await headObject(bucket, key, VersionId))?.Metadata?.['change'] === change
  })
  return isFound
}

export const toInfo = (
  key: string,
  head: Pick<HeadObjectCommandOutput, 'ContentLength' | 'LastModified' | 'ETag' | 'ContentType' | 'VersionId'>,
): ObjectInfo => ({
  key,
  size: head.ContentLength ?? 0,
  modified: head.LastModified?.getTime() ?? 0,
  version: unquote(head.ETag),
  fingerprint: unquote(head.ETag),
  contentType: head.ContentType ?? 'application/octet-stream',
  ...(head.VersionId !== undefined && { versionId: head.VersionId }),
})

export const findObject = async (bucket: Bucket, key: string): Promise<ObjectInfo | undefined> => {
  const head = await headObject(bucket, key)
  return head && toInfo(key, head)
}

/** Keys come in the form of a query, so that even what XML cannot hold comes through. */
export const decodeKey = (key: string | undefined): string => decodeURIComponent(key?.replaceAll('+', ' ') ?? '')

type ReadKey = typeof decodeKey

const toListed = (
  { Key, Size, LastModified, ETag }: NonNullable<ListObjectsV2CommandOutput['Contents']>[number],
  read: ReadKey,
): ListedObject => ({
  key: read(Key),
  size: Size ?? 0,
  modified: LastModified?.getTime() ?? 0,
  version: unquote(ETag),
  fingerprint: unquote(ETag),
})

export const compareKeys = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** The greatest character there is: what lies in a folder comes before the folder's key with this behind it. */
export const lastCharacter = '\u{10ffff}'

const listOnce = async (
  { client, name, options }: Bucket,
  { prefix, folded, after, limit }: ListQuery,
  isEncoded: boolean,
): Promise<Listing> => {
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
    options,
  )
  const read: ReadKey = isEncoded ? decodeKey : (key) => key ?? ''
  const objects = (page.Contents ?? []).map((object) => toListed(object, read))
  const folders = (page.CommonPrefixes ?? [])
    .map(({ Prefix }) => read(Prefix))
    .filter((folder) => after === undefined || compareKeys(folder, after) > 0)
  const last = [objects.at(-1)?.key, folders.at(-1)].filter((key) => key !== undefined).sort(compareKeys)
  return { objects, folders, next: page.IsTruncated ? last.at(-1) : undefined }
}

/** Every key of ours begins with a letter of ASCII: behind this one there is none. */
const behindAllKeys = '\u00e9'

/**
 * Whether a listing that goes on finds what is behind a name. LocalStack compares names in the form of a query with each other, and
 * passes over what is not ASCII: there, something is found behind everything.
 */
const comparesNamesAsTheyAre = async (bucket: Bucket): Promise<boolean> => {
  const query = { prefix: '', folded: false, after: behindAllKeys, limit: 1 }
  const { objects } = await listOnce(bucket, query, true)
  if (objects.length === 0) return true
  noteLack(bucket, 'listings in the order of names', 'names come as they are, and must be such as XML can hold')
  return false
}

/** `ObjectStore.list`. How a store compares names is asked once in its life, beside the first listing that goes on. */
export const listObjects = async (bucket: Bucket, query: ListQuery): Promise<Listing> => {
  if (query.after === undefined) return listOnce(bucket, query, true)
  const { known } = bucket
  known.comparesNamesAsTheyAre ??= comparesNamesAsTheyAre({ ...bucket, options: {} }).catch((error: unknown) => {
    delete known.comparesNamesAsTheyAre
    throw error
  })
  const [listing, isRight] = await Promise.all([listOnce(bucket, query, true), known.comparesNamesAsTheyAre])
  return isRight ? listing : listOnce(bucket, query, false)
}

export const existsBelow = async (bucket: Bucket, prefix: string): Promise<boolean> =>
  (await listOnce(bucket, { prefix, folded: false, limit: 1 }, true)).objects.length > 0

const isFolder = (key: string) => key.endsWith('/')
const parentOf = (folder: string) => folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1)

/** From how many folders in one folder on that one is listed in their place. A listing costs as much as a write. */
const worthAListing = 2
const longestListing = 1_000

/** Which of some folders there are, asked one by one. */
const standingOneByOne = async (bucket: Bucket, folders: readonly string[]): Promise<readonly string[]> => {
  const found = await Promise.all(folders.map((folder) => existsBelow(bucket, folder)))
  return folders.filter((_, index) => found[index])
}

/** Which of some folders in one folder there are. */
const standing = async (bucket: Bucket, parent: string, folders: readonly string[]): Promise<readonly string[]> => {
  if (folders.length < worthAListing) return standingOneByOne(bucket, folders)
  const listing = await listOnce(bucket, { prefix: parent, folded: true, limit: longestListing }, true)
  if (listing.next !== undefined) return standingOneByOne(bucket, folders)
  const there = new Set(listing.folders)
  return folders.filter((folder) => there.has(folder))
}

/** Answers the first of the keys where there is something: exactly there, or, for one that ends in `/`, there and below. */
export const findRival = async (bucket: Bucket, keys: readonly string[]): Promise<string | undefined> => {
  const objects = keys.filter((key) => !isFolder(key))
  const [foldersThere, objectsThere] = await Promise.all([
    Promise.all(
      [...Map.groupBy(keys.filter(isFolder), parentOf)].map(([parent, folders]) => standing(bucket, parent, folders)),
    ),
    Promise.all(objects.map((key) => headObject(bucket, key))),
  ])
  const taken = new Set([...foldersThere.flat(), ...objects.filter((_, index) => objectsThere[index])])
  return keys.find((key) => taken.has(key))
}

/** Answers the first of the keys where there is something else than what is expected there. */
export const findChanged = async (bucket: Bucket, expected: readonly Expected[]): Promise<string | undefined> => {
  const found = await Promise.all(expected.map(({ key }) => findObject(bucket, key)))
  return expected.find(({ version }, index) => found[index]?.version !== version)?.key
}
