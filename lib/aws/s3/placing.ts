import { randomUUID } from 'node:crypto'
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectCommand,
  type HeadObjectCommandOutput,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { type Change, NotPlaced, type PlaceConditions, type Staged, type Transfer } from '../../storage/object-store.ts'
import {
  type Bucket,
  callsInFlight,
  copySource,
  isMissing,
  isRefused,
  isUploadGone,
  longCall,
  onCondition,
  unquote,
} from './bucket.ts'
import { deleteAll } from './deleting.ts'
import { headObject } from './looking.ts'
import { createMaking, madeInSilence, presentMarker, type Writing } from './making.ts'
import { createRestoring } from './restoring.ts'
import { isScratch, type StagedBody } from './staging.ts'

/** What an attempt to place changes works with. */
interface Attempt {
  /** The bucket for as long as something may be begun, ... */
  readonly doing: Bucket
  /** ... and for as long as something may be taken back. */
  readonly undoing: Bucket
  readonly isTimeUp: () => boolean
  readonly bodyOf: (staged: Staged) => StagedBody
  readonly conditions: Pick<PlaceConditions, 'absent' | 'matching'>
}

/** Whether a change writes a key, or takes away what is there. */
export const changesKey = (change: Change, key: string): boolean =>
  change.key === key || (change.kind === 'move' && change.from.key === key)

const byKey = (one: Change, other: Change): number => (one.key < other.key ? -1 : 1)

/** One attempt to place changes. */
export const createPlacing = ({ doing, undoing, isTimeUp, bodyOf, conditions }: Attempt) => {
  const { absent, matching = [] } = conditions
  const { once, name: Bucket, options } = doing
  const long = { ...options, ...longCall }
  const { made, making, uncovering, isVersioned, undo } = createMaking(doing, undoing)

  const expected = new Map(matching.map((one) => [one.key, one]))

  const writing: Writing = async (
    { key, id, seen = expected.get(key), ability = 'a write onto one version alone' },
    run,
  ) => {
    const find = () => madeInSilence(undoing, key, ({ Metadata }) => Metadata?.['change'] === id)
    if (!seen) return making({ key, creates: isScratch(key), run: () => run({}), find })
    const conditions = seen.version === undefined ? { IfNoneMatch: '*' as const } : { IfMatch: seen.version }
    try {
      await making({
        key,
        creates: seen.version === undefined,
        run: () => onCondition(doing, ability, (isConditional) => run(isConditional ? conditions : {})),
        find,
      })
    } catch (error) {
      if (isUploadGone(error)) throw new ServiceError('unavailable', { cause: error })
      if (!isRefused(error)) throw error
      throw new NotPlaced({ outcome: 'changed', key })
    }
  }

  const { uncover, bringBack } = createRestoring({ doing, uncovering, writing, expected, absent })

  const completeUpload = (key: string, { content, id }: StagedBody): Promise<void> => {
    if (content.kind !== 'upload') throw new Error('There is no upload to complete')
    const MultipartUpload = { Parts: content.parts }
    const command = { Bucket, Key: key, UploadId: content.uploadId, MultipartUpload }
    return writing({ key, id }, (conditions) =>
      once.send(new CompleteMultipartUploadCommand({ ...command, ...conditions }), long),
    )
  }

  /** Another attempt may copy it again: it stays where it is. */
  const putCopy = (key: string, { contentType, id }: StagedBody, from: string): Promise<void> => {
    const own = { MetadataDirective: 'REPLACE' as const, ContentType: contentType, Metadata: { change: id } }
    const command = { Bucket, Key: key, CopySource: copySource(doing, from), ...own }
    return writing({ key, id }, (conditions) => once.send(new CopyObjectCommand({ ...command, ...conditions }), long))
  }

  const put = async (key: string, body: StagedBody): Promise<void> => {
    const { content, contentType, id } = body
    if (content.kind === 'memory') {
      const Metadata = { change: id }
      const command = { Bucket, Key: key, Body: content.bytes, ContentType: contentType, Metadata }
      return writing({ key, id }, (conditions) =>
        once.send(new PutObjectCommand({ ...command, ...conditions }), options),
      )
    }
    if (content.kind === 'object') return putCopy(key, body, content.key)
    if (content.key === key) return completeUpload(key, body)
    if (!isScratch(content.key)) throw new Error('These bytes were staged for another place')
    await completeUpload(content.key, body)
    const CopySource = copySource(doing, content.key)
    await writing({ key, id }, (conditions) =>
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
