import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
} from '@aws-sdk/client-s3'
import { ServiceError } from '../../errors.ts'
import { inParallel } from '../../in-parallel.ts'
import {
  type Change,
  type ListedObject,
  type Listing,
  type ListQuery,
  NotPlaced,
  type ObjectInfo,
  type ObjectStore,
  type Staged,
} from '../../storage/object-store.ts'
import type { FolderWatch, WatchedRemovals } from '../path-locks.ts'
import { type Bucket, callsInFlight, isMissing, isPreconditionFailure, unquote } from './bucket.ts'
import { createPlacing, headObject } from './placing.ts'
import { abortUpload, createMemoryBudget, type StagedBody, stageBody } from './staging.ts'

interface Options extends Pick<Bucket, 'client' | 'once'> {
  /** It must keep versions: they are what a change is taken back with. */
  readonly bucket: string
  /** What is asked whether a folder is being removed. */
  readonly removals: Pick<WatchedRemovals, 'watch'>
  /** Bytes of small files that may wait in memory, for all requests together. */
  readonly memory?: number
}

const defaultMemory = 32 * 1024 * 1024

const toInfo = (key: string, head: HeadObjectCommandOutput): ObjectInfo => ({
  key,
  size: head.ContentLength ?? 0,
  modified: head.LastModified?.getTime() ?? 0,
  version: unquote(head.ETag),
  contentType: head.ContentType ?? 'application/octet-stream',
  ...(head.VersionId !== undefined && { versionId: head.VersionId }),
})

/** Keys come in the form of a query, so that even what XML cannot hold comes through. */
const decodeKey = (key: string | undefined): string => decodeURIComponent(key?.replaceAll('+', ' ') ?? '')

const toListed = ({
  Key,
  Size,
  LastModified,
  ETag,
}: NonNullable<ListObjectsV2CommandOutput['Contents']>[number]): ListedObject => ({
  key: decodeKey(Key),
  size: Size ?? 0,
  modified: LastModified?.getTime() ?? 0,
  version: unquote(ETag),
})

const compareKeys = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** The greatest character there is: what lies in a folder comes before the folder's key with this behind it. */
const lastCharacter = '\u{10ffff}'

/** What XML cannot hold cannot be deleted in a batch. */
const unfitForXml = /[\ufffe\uffff]/

/** An S3 error of one key in a batch. All but one of them pass. */
const batchError = (code = 'InternalError', message = ''): Error => {
  const cause = Object.assign(new Error(`S3 did not delete every object: ${message}`), { name: code })
  return code === 'AccessDenied' ? cause : new ServiceError('unavailable', { cause })
}

/** The object store in a bucket of S3, or of anything that speaks like it. */
export const createS3ObjectStore = ({
  client,
  once,
  bucket: name,
  removals,
  memory = defaultMemory,
}: Options): ObjectStore => {
  const bucket: Bucket = { client, once, name }
  const budget = createMemoryBudget(memory)
  const waiting = new Map<Staged, StagedBody>()
  const bodyOf = (staged: Staged): StagedBody => {
    const body = waiting.get(staged)
    if (!body) throw new Error('These bytes do not wait in this store')
    return body
  }
  const letGo = (staged: Staged): StagedBody | undefined => {
    const body = waiting.get(staged)
    if (waiting.delete(staged) && body?.content.kind === 'memory') budget.release(body.size)
    return body
  }

  const list = async ({ prefix, folded, after, limit }: ListQuery): Promise<Listing> => {
    const isFolder = folded && after?.endsWith('/') && after !== prefix
    const page = await client.send(
      new ListObjectsV2Command({
        Bucket: name,
        Prefix: prefix,
        MaxKeys: limit,
        EncodingType: 'url',
        ...(folded && { Delimiter: '/' }),
        ...(after !== undefined && { StartAfter: isFolder ? `${after}${lastCharacter}` : after }),
      }),
    )
    const objects = (page.Contents ?? []).map(toListed)
    const folders = (page.CommonPrefixes ?? [])
      .map(({ Prefix }) => decodeKey(Prefix))
      .filter((folder) => after === undefined || compareKeys(folder, after) > 0)
    const last = [objects.at(-1)?.key, folders.at(-1)].filter((key) => key !== undefined).sort(compareKeys)
    return { objects, folders, next: page.IsTruncated ? last.at(-1) : undefined }
  }

  /** In the version that was listed alone, as in a batch. */
  const removeOne = async ({ key, version }: Pick<ListedObject, 'key' | 'version'>): Promise<void> => {
    try {
      await client.send(new DeleteObjectCommand({ Bucket: name, Key: key, IfMatch: version }))
    } catch (error) {
      if (!isPreconditionFailure(error) && !isMissing(error)) throw error
    }
  }

  const find = async (key: string) => {
    const head = await headObject(bucket, key)
    return head && toInfo(key, head)
  }
  const exists = async (prefix: string) => (await list({ prefix, folded: false, limit: 1 })).objects.length > 0
  const rivalAmong = (absent: readonly string[]) => findRival({ find, exists, list }, absent)

  /** Of two that did not see each other before, at least one sees the other now. Errors: NotPlaced. */
  const lookAgain = async (
    changes: readonly Change[],
    absent: readonly string[],
    watch: FolderWatch,
  ): Promise<void> => {
    // What has just been put there is no rival of itself.
    const isOwn = (key: string) =>
      changes.some((change) => change.key === key || (key.endsWith('/') && change.key.startsWith(key)))
    const [hasChanged, rival] = await Promise.all([watch.hasChanged(), rivalAmong(absent.filter((key) => !isOwn(key)))])
    if (hasChanged) throw new NotPlaced({ outcome: 'going' })
    if (rival !== undefined) throw new NotPlaced({ outcome: 'rival', key: rival })
  }

  return {
    find,
    exists,
    list,

    async read(key, choose) {
      const head = await headObject(bucket, key)
      if (!head) return undefined
      const info = toInfo(key, head)
      const range = choose(info)
      if (!range || range.last < range.first) return { info }
      const { Body } = await client.send(
        new GetObjectCommand({
          Bucket: name,
          Key: key,
          Range: `bytes=${range.first}-${range.last}`,
          // The very state that was described, even when it is replaced in this moment.
          ...(head.VersionId ? { VersionId: head.VersionId } : { IfMatch: head.ETag }),
        }),
      )
      return Body instanceof Readable ? { info, body: Body } : { info }
    },

    async stage(content, target) {
      const body = await stageBody(bucket, budget, content, target)
      const staged: Staged = {
        size: body.size,
        async discard() {
          const { content } = letGo(staged) ?? {}
          if (content?.kind === 'upload') await abortUpload(bucket, content.key, content.uploadId)
        },
      }
      waiting.set(staged, body)
      return staged
    },

    async place(changes, conditions) {
      const { absent, staying } = conditions
      const [watch, before] = await Promise.all([removals.watch(staying.site, staying.folders), rivalAmong(absent)])
      if (watch.isGoing) return { outcome: 'going' }
      if (before !== undefined) return { outcome: 'rival', key: before }
      const placing = createPlacing(bucket, bodyOf)
      try {
        await placing.apply(changes, conditions.isTimeUp ?? (() => false))
        await lookAgain(changes, absent, watch)
      } catch (error) {
        const failure = await placing.undo(error)
        if (failure instanceof NotPlaced) return failure.outcome
        throw failure
      }
      for (const change of changes) if (change.kind === 'put') letGo(change.staged)
      return { outcome: 'placed' }
    },

    async remove(objects) {
      const plain = objects.filter(({ key }) => !unfitForXml.test(key))
      const others = objects.filter(({ key }) => unfitForXml.test(key))
      await inParallel(others, callsInFlight, removeOne)
      for (let at = 0; at < plain.length; at += 1000) {
        const Objects = plain.slice(at, at + 1000).map(({ key, version }) => ({ Key: key, ETag: version }))
        const { Errors = [] } = await client.send(
          new DeleteObjectsCommand({ Bucket: name, Delete: { Objects, Quiet: true } }),
        )
        // What has been replaced since it was listed is newer, and stays; what has gone since, another removal took.
        const failed = Errors.find(({ Code }) => Code !== 'PreconditionFailed' && Code !== 'NoSuchKey')
        if (failed) throw batchError(failed.Code, failed.Message)
      }
    },
  }
}

const isFolder = (key: string) => key.endsWith('/')
const parentOf = (folder: string) => folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1)

/** From how many folders in one folder on that one is listed in their place. A listing costs as much as a write. */
const worthAListing = 2
const longestListing = 1_000

/** Answers the first of the keys where there is something: exactly there, or, for one that ends in `/`, there and below. */
const findRival = async (
  { find, exists, list }: Pick<ObjectStore, 'find' | 'exists' | 'list'>,
  keys: readonly string[],
): Promise<string | undefined> => {
  const oneByOne = async (folders: readonly string[]) => {
    const found = await Promise.all(folders.map(exists))
    return folders.filter((_, index) => found[index])
  }
  /** Which of some folders in one folder there are. */
  const standing = async ([parent, folders]: [string, string[]]): Promise<readonly string[]> => {
    if (folders.length < worthAListing) return oneByOne(folders)
    const listing = await list({ prefix: parent, folded: true, limit: longestListing })
    if (listing.next !== undefined) return oneByOne(folders)
    const there = new Set(listing.folders)
    return folders.filter((folder) => there.has(folder))
  }
  const objects = keys.filter((key) => !isFolder(key))
  const [foldersThere, objectsThere] = await Promise.all([
    Promise.all([...Map.groupBy(keys.filter(isFolder), parentOf)].map(standing)),
    Promise.all(objects.map(find)),
  ])
  const taken = new Set([...foldersThere.flat(), ...objects.filter((_, index) => objectsThere[index])])
  return keys.find((key) => taken.has(key))
}
