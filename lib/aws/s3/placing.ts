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
import {
  type Change,
  type Expected,
  NotPlaced,
  type PlaceConditions,
  type Staged,
  type Transfer,
} from '../../storage/object-store.ts'
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

interface Attempt {
  // The bucket until the deadline for changes.
  readonly doing: Bucket
  // The bucket until the deadline for taking changes back.
  readonly undoing: Bucket
  readonly isTimeUp: () => boolean
  readonly bodyOf: (staged: Staged) => StagedBody
  readonly conditions: Pick<PlaceConditions, 'absent' | 'matching'>
}

/** A change that writes a key or removes its object. */
export const changesKey = (change: Change, key: string): boolean =>
  change.key === key || (change.kind === 'move' && change.from.key === key)

const byKey = (one: Change, other: Change): number => (one.key < other.key ? -1 : 1)

type Making = ReturnType<typeof createMaking>
type ExpectedByKey = ReadonlyMap<string, Expected>

const longOptions = ({ options }: Bucket) => ({ ...options, ...longCall })

const createWriting =
  ({ doing, undoing }: Attempt, { making }: Making, expected: ExpectedByKey): Writing =>
  async ({ key, id, seen = expected.get(key), ability = 'a write onto one version alone' }, run) => {
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

/** Puts staged bodies in place. */
const createPutting = ({ doing }: Attempt, { made }: Making, writing: Writing) => {
  const { once, name: Bucket, options } = doing
  const long = longOptions(doing)

  const completeUpload = (key: string, { content, id }: StagedBody): Promise<void> => {
    if (content.kind !== 'upload') throw new Error('There is no upload to complete')
    const MultipartUpload = { Parts: content.parts }
    const command = { Bucket, Key: key, UploadId: content.uploadId, MultipartUpload }
    return writing({ key, id }, (conditions) =>
      once.send(new CompleteMultipartUploadCommand({ ...command, ...conditions }), long),
    )
  }

  // The source stays: another attempt may copy it again.
  const putCopy = (key: string, { contentType, id }: StagedBody, from: string): Promise<void> => {
    const own = { MetadataDirective: 'REPLACE' as const, ContentType: contentType, Metadata: { change: id } }
    const command = { Bucket, Key: key, CopySource: copySource(doing, from), ...own }
    return writing({ key, id }, (conditions) => once.send(new CopyObjectCommand({ ...command, ...conditions }), long))
  }

  return async (key: string, body: StagedBody): Promise<void> => {
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
}

const createFolder = async (bucket: Bucket, { making }: Making, key: string): Promise<void> => {
  if (await headObject(bucket, key)) return
  const command = { Bucket: bucket.name, Key: key, Body: Buffer.alloc(0), ContentLength: 0 }
  await making({
    key,
    creates: true,
    run: () => bucket.once.send(new PutObjectCommand(command), bucket.options),
    // A folder that stays behind is empty, and the next attempt finds it.
    find: async () => undefined,
  })
}

/** Copies an object to a free key, for copies and moves. Errors: NotPlaced. */
const copyObject = async (
  { doing, undoing }: Attempt,
  { making }: Making,
  { kind, from, key, contentType }: Transfer,
): Promise<void> => {
  const { once, name: Bucket } = doing
  // Some stores ignore the condition below. Copies are many and keep their source, so they go without this look.
  if (kind === 'move' && (await headObject(doing, key))) throw new NotPlaced({ outcome: 'occupied', key })
  const id = randomUUID()
  // A copy has the mark of its source or one of its own. Objects that others have put into the bucket may have none.
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
          if (!isConditional && (await headObject(doing, key))) throw new NotPlaced({ outcome: 'occupied', key })
          const conditions = isConditional ? { IfNoneMatch: '*' } : {}
          const copied = await once.send(new CopyObjectCommand({ ...command, ...conditions }), longOptions(doing))
          return { VersionId: copied.VersionId, ETag: copied.CopyObjectResult?.ETag }
        }),
      find: () => madeInSilence(undoing, key, isOwn),
    })
  } catch (error) {
    if (!isRefused(error)) throw error
    const isTaken = !isMissing(error) && (await headObject(doing, key))
    throw new NotPlaced(isTaken ? { outcome: 'occupied', key } : { outcome: 'stale', key: from.key })
  }
}

/** Hides objects with delete markers. */
const createHiding = ({ doing, undoing }: Attempt, { making }: Making, expected: ExpectedByKey) => {
  const { once, name: Bucket, options } = doing
  // The objects to remove, as they were while others were created.
  const seen = new Map<string, HeadObjectCommandOutput | undefined>()

  // A newer object stays, but nothing is placed where another one was expected. Errors: NotPlaced.
  const checkExpected = (key: string, found?: string): void => {
    if (expected.has(key) && expected.get(key)?.version !== found) throw new NotPlaced({ outcome: 'changed', key })
  }

  return {
    async look(key: string): Promise<void> {
      seen.set(key, await headObject(doing, key))
    },

    async hide(key: string, version = expected.get(key)?.version): Promise<void> {
      const head = seen.has(key) ? seen.get(key) : await headObject(doing, key)
      if (!head) return checkExpected(key)
      const found = unquote(head.ETag)
      checkExpected(key, found)
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
        checkExpected(key)
      }
    },
  }
}

/** One attempt to place changes. */
export const createPlacing = (attempt: Attempt) => {
  const { doing, undoing, isTimeUp, bodyOf, conditions } = attempt
  const { absent, matching = [] } = conditions
  const made = createMaking(doing, undoing)
  const { uncovering, isVersioned, undo } = made
  const expected = new Map(matching.map((one) => [one.key, one]))
  const writing = createWriting(attempt, made, expected)
  const put = createPutting(attempt, made, writing)
  const { look, hide } = createHiding(attempt, made, expected)
  const { uncover, bringBack } = createRestoring({ doing, uncovering, writing, expected, absent })

  const create = async (change: Change): Promise<void> => {
    if (change.kind === 'remove') return look(change.key)
    if (change.kind === 'put') return put(change.key, bodyOf(change.staged))
    if (change.kind === 'folder') return createFolder(doing, made, change.key)
    if (change.kind === 'restore') return change.hiddenBy ? undefined : bringBack(change)
    return copyObject(attempt, made, change)
  }

  const takeAway = (change: Change): Promise<void> | undefined => {
    if (change.kind === 'move') return hide(change.from.key, change.from.version)
    return change.kind === 'remove' ? hide(change.key) : undefined
  }

  type Work = (change: Change) => Promise<void> | undefined

  // Works on several changes at once, and begins none after the deadline.
  const each = (changes: readonly Change[], work: Work): Promise<void> =>
    inParallel(changes, callsInFlight, async (change) => {
      if (isTimeUp()) throw new NotPlaced({ outcome: 'late' })
      await work(change)
    })

  // Changes with an expectation go first, one by one in order of their keys. Of several requests that expect the same,
  // one gets through, and the others have made nothing yet that it might build on.
  const inTurn = async (
    changes: readonly Change[],
    isExpecting: (change: Change) => boolean,
    work: Work,
  ): Promise<void> => {
    for (const change of changes.filter(isExpecting)) await each([change], work)
    await each(
      changes.filter((change) => !isExpecting(change)),
      work,
    )
  }

  return {
    // Creates everything first, then removes. Errors: NotPlaced.
    async apply(changes: readonly Change[]): Promise<void> {
      await uncover(changes.filter((change) => change.kind === 'restore').filter(({ hiddenBy }) => hiddenBy))
      await inTurn(changes.toSorted(byKey), ({ kind, key }) => kind === 'put' && expected.has(key), create)
      // A source that could not be brought back must stay.
      if (!isVersioned() && changes.some(({ kind }) => kind === 'move')) throw new ServiceError('unavailable')
      await inTurn(changes, (change) => expected.has(change.kind === 'move' ? change.from.key : change.key), takeAway)
    },

    // Folders that existed before are no change.
    hasChanged: (changes: readonly Change[]): boolean =>
      made.made.length > 0 || changes.some(({ kind }) => kind !== 'folder'),

    undo,
  }
}
