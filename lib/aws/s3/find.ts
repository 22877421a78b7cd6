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

/** The version at a key that has this mark of its writer. */
export const findMarked = async (bucket: Bucket, key: string, mark: string): Promise<string | undefined> => {
  const head = await headObject(bucket, key)
  return head?.Metadata?.['change'] === mark ? head.VersionId : undefined
}

const mostVersions = 1_000
const looksAtOnce = 16

/**
 * Finds out if a change has made a version of an object since a moment, even if it was replaced or removed afterwards.
 */
export const wasMadeBy = async (bucket: Bucket, key: string, change: string, since: number): Promise<boolean> => {
  if ((await headObject(bucket, key))?.Metadata?.['change'] === change) return true
  const { client, name, options } = bucket
  // Versions of the key itself come first, the newest first.
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

/** Listed keys are URL-encoded, because XML cannot hold some of them. */
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

/** The greatest character: a folder's key with it sorts after everything in the folder. */
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
    // LocalStack 4.14.0 repeats the folder where the listing continues.
    .filter((folder) => after === undefined || compareKeys(folder, after) > 0)
  const last = [objects.at(-1)?.key, folders.at(-1)].filter((key) => key !== undefined).sort(compareKeys)
  return { objects, folders, next: page.IsTruncated ? last.at(-1) : undefined }
}

// Our keys start with an ASCII letter, so none follows this one.
const behindAllKeys = '\u00e9'

/**
 * LocalStack 4.14.0 compares names in their URL-encoded form, and so skips those that are not ASCII: there, something
 * follows every name.
 */
const comparesNamesAsTheyAre = async (bucket: Bucket): Promise<boolean> => {
  const query = { prefix: '', folded: false, after: behindAllKeys, limit: 1 }
  const { objects } = await listOnce(bucket, query, true)
  if (objects.length === 0) return true
  noteLack(bucket, 'listings in the order of names', 'names come as they are, and must be such as XML can hold')
  return false
}

/** `ObjectStore.list`. The first continued listing finds out how the store compares names. */
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

// From two folders on, one listing of their parent replaces a listing of each.
const worthAListing = 2
const longestListing = 1_000

const existingOneByOne = async (bucket: Bucket, folders: readonly string[]): Promise<readonly string[]> => {
  const found = await Promise.all(folders.map((folder) => existsBelow(bucket, folder)))
  return folders.filter((_, index) => found[index])
}

/** The folders that exist, of some in one parent. */
const existingFolders = async (
  bucket: Bucket,
  parent: string,
  folders: readonly string[],
): Promise<readonly string[]> => {
  if (folders.length < worthAListing) return existingOneByOne(bucket, folders)
  const listing = await listOnce(bucket, { prefix: parent, folded: true, limit: longestListing }, true)
  if (listing.next !== undefined) return existingOneByOne(bucket, folders)
  const there = new Set(listing.folders)
  return folders.filter((folder) => there.has(folder))
}

/** The first key that exists; for a key with `/` at its end, also the first with something below it. */
export const findRival = async (bucket: Bucket, keys: readonly string[]): Promise<string | undefined> => {
  const objects = keys.filter((key) => !isFolder(key))
  const [foldersThere, objectsThere] = await Promise.all([
    Promise.all(
      [...Map.groupBy(keys.filter(isFolder), parentOf)].map(([parent, folders]) =>
        existingFolders(bucket, parent, folders),
      ),
    ),
    Promise.all(objects.map((key) => headObject(bucket, key))),
  ])
  const taken = new Set([...foldersThere.flat(), ...objects.filter((_, index) => objectsThere[index])])
  return keys.find((key) => taken.has(key))
}

/** The first key that differs from what is expected. */
export const findChanged = async (bucket: Bucket, expected: readonly Expected[]): Promise<string | undefined> => {
  const found = await Promise.all(expected.map(({ key }) => findObject(bucket, key)))
  return expected.find(({ version }, index) => found[index]?.version !== version)?.key
}
