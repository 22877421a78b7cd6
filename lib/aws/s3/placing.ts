import { randomUUID } from 'node:crypto'
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectCommand,
  type HeadObjectCommandOutput,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { ServiceError } from '../../errors.ts'
import { inParallel } from '../../in-parallel.ts'
import {
  type Change,
  type Expected,
  listAll,
  NotPlaced,
  type ObjectStore,
  type Restoration,
  type Staged,
  type Transfer,
} from '../../storage/object-store.ts'
import {
  type Bucket,
  callsInFlight,
  isMissing,
  isRefused,
  isUploadGone,
  longCall,
  onCondition,
  unquote,
} from './bucket.ts'
import { type Doomed, deleteAll } from './deleting.ts'
import { headObject, listObjects } from './looking.ts'
import { type Answer, createMaking, madeInSilence, presentMarker } from './making.ts'
import { isScratch, type StagedBody } from './staging.ts'
import { findVersion } from './versions.ts'

const copySource = ({ name }: Bucket, key: string): string =>
  `${name}/${key.split('/').map(encodeURIComponent).join('/')}`

/** What an attempt to place changes works with. */
interface Attempt {
  /** The bucket for as long as something may be begun, ... */
  readonly doing: Bucket
  /** ... and for as long as something may be taken back. */
  readonly undoing: Bucket
  readonly isTimeUp: () => boolean
  readonly bodyOf: (staged: Staged) => StagedBody
  readonly matching?: readonly Expected[] | undefined
}

/** Whether a change writes a key, or takes away what is there. */
export const changesKey = (change: Change, key: string): boolean =>
  change.key === key || (change.kind === 'move' && change.from.key === key)

/** `live/1001/`, or what else a key begins with. */
const areaOf = ({ key }: Restoration): string => key.slice(0, key.indexOf('/', key.indexOf('/') + 1) + 1)

/** The innermost folder that all of them lie in, in each area. */
const commonFolders = (restorations: readonly Restoration[]): readonly string[] =>
  [...Map.groupBy(restorations, areaOf).values()].map((some) => {
    const keys = some.map(({ key }) => key).sort()
    const [first = '', last = ''] = [keys[0], keys.at(-1)]
    let length = 0
    while (length < first.length && first[length] === last[length]) length += 1
    return first.slice(0, first.lastIndexOf('/', length - 1) + 1)
  })

/** The first of several that a listing of their folders lacks in that state. */
const firstMissing = async (
  store: Pick<ObjectStore, 'list'>,
  restorations: readonly Restoration[],
): Promise<string | undefined> => {
  const missing = new Map(restorations.map(({ key, tag }) => [key, tag]))
  for (const folder of commonFolders(restorations)) {
    for await (const objects of listAll(store, folder)) {
      for (const { key, version } of objects) if (missing.get(key) === version) missing.delete(key)
    }
  }
  return missing.keys().next().value
}

const byKey = (one: Change, other: Change): number => (one.key < other.key ? -1 : 1)

/** One attempt to place changes. */
export const createPlacing = ({ doing, undoing, isTimeUp, bodyOf, matching = [] }: Attempt) => {
  const { once, name: Bucket, options } = doing
  const long = { ...options, ...longCall }
  const { made, making, isVersioned, undo } = createMaking(doing, undoing)

  const expected = new Map(matching.map((one) => [one.key, one]))

  /** The conditions that a call carries which writes a key. */
  interface WriteConditions {
    readonly IfMatch?: string
    readonly IfNoneMatch?: '*'
  }

  /** Makes a call that writes a key, onto what is expected there alone when something is. Errors: NotPlaced. */
  const writing = async (
    key: string,
    id: string,
    run: (conditions: WriteConditions) => Promise<Answer>,
  ): Promise<void> => {
    const find = () => madeInSilence(undoing, key, ({ Metadata }) => Metadata?.['change'] === id)
    const seen = expected.get(key)
    if (!seen) return making({ key, creates: isScratch(key), run: () => run({}), find })
    const conditions = seen.version === undefined ? { IfNoneMatch: '*' as const } : { IfMatch: seen.version }
    try {
      await making({
        key,
        creates: seen.version === undefined,
        run: () =>
          onCondition(doing, 'a write onto one version alone', (isConditional) => run(isConditional ? conditions : {})),
        find,
      })
    } catch (error) {
      if (isUploadGone(error)) throw new ServiceError('unavailable', { cause: error })
      if (!isRefused(error)) throw error
      throw new NotPlaced({ outcome: 'changed', key })
    }
  }

  const completeUpload = (key: string, { content, id }: StagedBody): Promise<void> => {
    if (content.kind !== 'upload') throw new Error('There is no upload to complete')
    const MultipartUpload = { Parts: content.parts }
    const command = { Bucket, Key: key, UploadId: content.uploadId, MultipartUpload }
    return writing(key, id, (conditions) =>
      once.send(new CompleteMultipartUploadCommand({ ...command, ...conditions }), long),
    )
  }

  /** Another attempt may copy it again: it stays where it is. */
  const putCopy = (key: string, { contentType, id }: StagedBody, from: string): Promise<void> => {
    const own = { MetadataDirective: 'REPLACE' as const, ContentType: contentType, Metadata: { change: id } }
    const command = { Bucket, Key: key, CopySource: copySource(doing, from), ...own }
    return writing(key, id, (conditions) => once.send(new CopyObjectCommand({ ...command, ...conditions }), long))
  }

  const put = async (key: string, body: StagedBody): Promise<void> => {
    const { content, contentType, id } = body
    if (content.kind === 'memory') {
      const Metadata = { change: id }
      const command = { Bucket, Key: key, Body: content.bytes, ContentType: contentType, Metadata }
      return writing(key, id, (conditions) => once.send(new PutObjectCommand({ ...command, ...conditions }), options))
    }
    if (content.kind === 'object') return putCopy(key, body, content.key)
    if (content.key === key) return completeUpload(key, body)
    if (!isScratch(content.key)) throw new Error('These bytes were staged for another place')
    await completeUpload(content.key, body)
    const CopySource = copySource(doing, content.key)
    await writing(key, id, (conditions) =>
      once.send(new CopyObjectCommand({ Bucket, Key: key, CopySource, ...conditions }), long),
    )
    await deleteAll(
      doing,
      made.filter((one) => one.key === content.key),
    )
  }

  const createFolder = async (key: string): Promise<void> => {
    if (await headObject(doing, key)) return
    const command = { Bucket, Key: key, Body: Buffer.alloc(0), ContentLength: 0 }
    await making({
      key,
      creates: true,
      run: () => once.send(new PutObjectCommand(command), options),
      // A folder that stays behind is empty, and is found there by a repetition.
      find: async () => undefined,
    })
  }

  const copy = async ({ kind, from, key, contentType }: Transfer): Promise<void> => {
    // Some stores pass over the condition below. Copies, which are many and leave their source alone, do without this look all the same.
    if (kind === 'move' && (await headObject(doing, key))) throw new NotPlaced({ outcome: 'rival', key })
    const id = randomUUID()
    /** A copy bears the mark of its source, or one of its own; what others have put into the bucket may have none. */
    const isOwn = async (copied: HeadObjectCommandOutput): Promise<boolean> => {
      const mark = contentType ? id : (await headObject(undoing, from.key))?.Metadata?.['change']
      return mark ? copied.Metadata?.['change'] === mark : unquote(copied.ETag) === from.version
    }
    const command = {
      Bucket,
      Key: key,
      CopySource: copySource(doing, from.key),
      CopySourceIfMatch: from.version,
      ...(contentType && {
        ContentType: contentType,
        MetadataDirective: 'REPLACE' as const,
        Metadata: { change: id },
      }),
    }
    try {
      await making({
        key,
        creates: true,
        run: () =>
          onCondition(doing, 'a copy onto nothing', async (isConditional) => {
            if (!isConditional && (await headObject(doing, key))) throw new NotPlaced({ outcome: 'rival', key })
            const conditions = isConditional ? { IfNoneMatch: '*' } : {}
            const copied = await once.send(new CopyObjectCommand({ ...command, ...conditions }), long)
            return { VersionId: copied.VersionId, ETag: copied.CopyObjectResult?.ETag }
          }),
        find: () => madeInSilence(undoing, key, isOwn),
      })
    } catch (error) {
      if (!isRefused(error)) throw error
      const isTaken = !isMissing(error) && (await headObject(doing, key))
      throw new NotPlaced(isTaken ? { outcome: 'rival', key } : { outcome: 'stale', key: from.key })
    }
  }

  /** The first of these that is not there in that state: one is looked for by itself; several, which lie in one folder, are listed. */
  const findMissing = async (restorations: readonly Restoration[]): Promise<string | undefined> => {
    const [first] = restorations
    if (first && restorations.length === 1) {
      return (await headObject(doing, first.key))?.VersionId === first.id ? undefined : first.key
    }
    return firstMissing({ list: (query) => listObjects(doing, query) }, restorations)
  }

  /** What is hidden, and nothing newer is there, is there again when nothing hides it any more. Errors: NotPlaced. */
  const uncover = async (restorations: readonly Restoration[]): Promise<void> => {
    const markers = restorations.flatMap(({ key, hiddenBy = [] }) =>
      hiddenBy.map((versionId): Doomed => ({ kind: 'version', key, versionId })),
    )
    // To take it back, they are hidden again: also those that had their turn before a call failed.
    made.push(...restorations.map(({ key, tag = '' }): Doomed => ({ kind: 'object', key, tag })))
    await deleteAll(doing, markers)
    // Somebody else may have hidden or replaced them meanwhile, so that other markers hide them.
    const missing = await findMissing(restorations)
    if (missing !== undefined) throw new NotPlaced({ outcome: 'stale', key: missing })
  }

  /** Any other state comes as a copy of it, onto what is there. Errors: NotPlaced. */
  const bringBack = async ({ key, id: versionId }: Restoration): Promise<void> => {
    const info = await findVersion(doing, key, versionId)
    if (!info) throw new NotPlaced({ outcome: 'stale', key })
    const id = randomUUID()
    const command = {
      Bucket,
      Key: key,
      CopySource: `${copySource(doing, key)}?versionId=${encodeURIComponent(versionId)}`,
      MetadataDirective: 'REPLACE' as const,
      ContentType: info.contentType,
      Metadata: { change: id },
    }
    await writing(key, id, async (conditions) => {
      const copied = await once.send(new CopyObjectCommand({ ...command, ...conditions }), long)
      return { VersionId: copied.VersionId, ETag: copied.CopyObjectResult?.ETag }
    })
  }

  /** The objects that go, as they were seen while others came into being. */
  const seen = new Map<string, HeadObjectCommandOutput | undefined>()

  /** What has been replaced since is newer, and stays; where something else was expected, nothing is placed. Errors: NotPlaced. */
  const leave = (key: string, found?: string): void => {
    if (expected.has(key) && expected.get(key)?.version !== found) throw new NotPlaced({ outcome: 'changed', key })
  }

  const hide = async (key: string, version = expected.get(key)?.version): Promise<void> => {
    const head = seen.has(key) ? seen.get(key) : await headObject(doing, key)
    if (!head) return leave(key)
    const found = unquote(head.ETag)
    leave(key, found)
    if (version !== undefined && found !== version) return
    const remove = (isConditional: boolean) =>
      once.send(new DeleteObjectCommand({ Bucket, Key: key, ...(isConditional && { IfMatch: version }) }), options)
    try {
      await making({
        key,
        creates: false,
        run: () => (version ? onCondition(doing, 'a removal of one version alone', remove) : remove(false)),
        find: () => presentMarker(undoing, key),
      })
    } catch (error) {
      if (!isRefused(error)) throw error
      leave(key)
    }
  }

  /** Works on changes, several at once. When the time is up, nothing is begun any more. */
  const each = (changes: readonly Change[], work: (change: Change) => Promise<void> | undefined): Promise<void> =>
    inParallel(changes, callsInFlight, async (change) => {
      if (isTimeUp()) throw new NotPlaced({ outcome: 'late' })
      await work(change)
    })

  const create = async (change: Change): Promise<void> => {
    if (change.kind === 'remove') seen.set(change.key, await headObject(doing, change.key))
    if (change.kind === 'put') return put(change.key, bodyOf(change.staged))
    if (change.kind === 'folder') return createFolder(change.key)
    if (change.kind === 'restore') return change.hiddenBy ? undefined : bringBack(change)
    return change.kind === 'remove' ? undefined : copy(change)
  }

  const takeAway = (change: Change): Promise<void> | undefined => {
    if (change.kind === 'move') return hide(change.from.key, change.from.version)
    return change.kind === 'remove' ? hide(change.key) : undefined
  }

  /**
   * What meets what is expected comes first, one after the other. In the order of the keys, one of several requests that expect the same gets
   * through all of it, and the others have made nothing yet that it might build on.
   */
  const inTurn = async (
    changes: readonly Change[],
    isExpecting: (change: Change) => boolean,
    work: (change: Change) => Promise<void> | undefined,
  ): Promise<void> => {
    for (const change of changes.filter(isExpecting)) await each([change], work)
    await each(
      changes.filter((change) => !isExpecting(change)),
      work,
    )
  }

  return {
    /** Everything that comes into being first, then everything that goes. Errors: NotPlaced. */
    async apply(changes: readonly Change[]): Promise<void> {
      await uncover(changes.filter((change) => change.kind === 'restore').filter(({ hiddenBy }) => hiddenBy))
      await inTurn(changes.toSorted(byKey), ({ kind, key }) => kind === 'put' && expected.has(key), create)
      // A source that could not be brought back must not go.
      if (!isVersioned() && changes.some(({ kind }) => kind === 'move')) throw new ServiceError('unavailable')
      await inTurn(changes, (change) => expected.has(change.kind === 'move' ? change.from.key : change.key), takeAway)
    },

    /** Whether they have changed anything: folders that were there already have not. */
    hasChanged: (changes: readonly Change[]): boolean =>
      made.length > 0 || changes.some(({ kind }) => kind !== 'folder'),

    undo,
  }
}
