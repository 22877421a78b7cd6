import { randomUUID } from 'node:crypto'
import { CompleteMultipartUploadCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { compareText } from '../../core/names.ts'
import { type Change, NotPlaced, type Transfer } from '../../storage/object-store.ts'
import { type Attempt, awaitVersion, type Made, undoResults } from './attempt.ts'
import { type Bucket, callsInFlight, isMissing, isUploadGone, marked, onlyOnto, sendLong } from './bucket.ts'
import { sendCopy } from './copy.ts'
import { deleteState } from './delete.ts'
import { findCopy, findMarked, findObject, headObject } from './find.ts'
import { copyVersion, uncover } from './restore.ts'
import { isScratch, type StagedBody } from './stage.ts'
import { listPage } from './versions.ts'

const sendBody = ({ bucket, expected }: Attempt, key: string, { content, contentType, id, size }: StagedBody) => {
  const { once, name, options } = bucket
  const goal = { Key: key, ...onlyOnto(expected.get(key)) }
  const described = marked(contentType, id)
  // The source stays, so that a later attempt can copy it again.
  if (content.kind === 'object') return sendCopy(bucket, { ...content, size }, { ...goal, ...described })
  if (content.kind === 'memory') {
    return once.send(new PutObjectCommand({ Bucket: name, ...goal, ...described, Body: content.bytes }), options)
  }
  const upload = { UploadId: content.uploadId, MultipartUpload: { Parts: content.parts } }
  const command = new CompleteMultipartUploadCommand({ Bucket: name, ...goal, ...upload })
  return sendLong(bucket, (long) => once.send(command, long))
}

/** Puts a staged body at a key. An upload can be completed only at its own key. Errors of the steps: NotPlaced. */
const putBody = async (attempt: Attempt, key: string, body: StagedBody): Promise<Made | undefined> => {
  const { content } = body
  const expected = attempt.expected.get(key)
  const spare = content.kind === 'upload' ? content.spare : undefined
  const isNew = expected ? expected.version === undefined : isScratch(key) || key.endsWith('/')
  const find = (late: Bucket) => findMarked(late, key, body.id)
  const explain = async (refusal: unknown) => {
    const isSourceGone = content.kind === 'object' && !(await headObject(attempt.bucket.finding, content.key))
    if (isUploadGone(refusal) || isSourceGone) return new ServiceError('unavailable', { cause: refusal })
    return expected ? new NotPlaced({ outcome: 'changed', key }) : refusal
  }
  return awaitVersion(attempt, { key, isNew, spare, find, explain }, sendBody(attempt, key, body))
}

const createFolder = async (attempt: Attempt, key: string): Promise<unknown> => {
  if (await headObject(attempt.bucket, key)) {
    const expected = attempt.expected.get(key)
    if (expected && expected.version === undefined) throw new NotPlaced({ outcome: 'changed', key })
    return undefined
  }
  const content = { kind: 'memory', bytes: Buffer.alloc(0) } as const
  return putBody(attempt, key, { id: randomUUID(), size: 0, contentType: undefined, content })
}

const copyObject = async (attempt: Attempt, transfer: Transfer): Promise<unknown> => {
  const { bucket } = attempt
  const { kind, from, key, contentType } = transfer
  // MiniStack 1.5.33 ignores IfNoneMatch in a copy, so a HEAD of the key replaces it. Copies of a folder skip this
  // HEAD, because they are many and keep their source.
  if (kind === 'move' && (await headObject(bucket, key))) throw new NotPlaced({ outcome: 'occupied', key })
  const mark = randomUUID()
  const described = contentType ? marked(contentType, mark) : {}
  const goal = { Key: key, CopySourceIfMatch: from.version, IfNoneMatch: '*', ...described }
  const call = sendCopy(bucket, { key: from.key, size: from.size }, goal)
  const find = (late: Bucket) => (contentType ? findMarked(late, key, mark) : findCopy(late, from, key))
  const explain = async (refusal: unknown) => {
    const isTaken = !isMissing(refusal) && (await headObject(bucket, key))
    return new NotPlaced(isTaken ? { outcome: 'occupied', key } : { outcome: 'stale', key: from.key })
  }
  return awaitVersion(attempt, { key, isNew: true, find, explain }, call)
}

const findDeleteMarker = async (bucket: Bucket, key: string): Promise<string | undefined> => {
  const { states } = await listPage(bucket, { prefix: key, folded: false, after: undefined, limit: 10 })
  const [newest] = states.get(key) ?? []
  return newest?.kind === 'marker' ? newest.id : undefined
}

const tagOf = async ({ bucket, tags }: Attempt, key: string): Promise<string | undefined> => {
  if (!tags.has(key)) tags.set(key, (await findObject(bucket, key))?.version)
  return tags.get(key)
}

const put = async (attempt: Attempt, key: string, body: StagedBody): Promise<unknown> => {
  const { content } = body
  if (content.kind !== 'upload' || content.key === key) return putBody(attempt, key, body)
  if (!isScratch(content.key)) throw new Error('These bytes were staged for another place')
  const scratch = await putBody(attempt, content.key, body)
  await putBody(attempt, key, { ...body, content: { kind: 'object', key: content.key } })
  return scratch && undoResults(attempt.bucket, [scratch])
}

// A removal only looks for its object here. After all other changes are made, `takeAway` hides the object with a delete
// marker.
const create = async (attempt: Attempt, change: Change): Promise<unknown> => {
  const { kind, key } = change
  if (kind === 'remove') return tagOf(attempt, key)
  if (kind === 'put') return put(attempt, key, attempt.bodyOf(change.staged))
  if (kind === 'folder') return createFolder(attempt, key)
  if (kind !== 'restore') return copyObject(attempt, change)
  return change.hiddenBy ? undefined : copyVersion(attempt, change)
}

export const removedBy = (change: Change) => {
  if (change.kind === 'move') return change.from
  if (change.kind === 'remove') return { key: change.key, version: undefined }
  change.kind satisfies 'put' | 'folder' | 'copy' | 'restore'
  return undefined
}

const takeAway = async (attempt: Attempt, change: Change): Promise<unknown> => {
  const { bucket, expected } = attempt
  const removed = removedBy(change)
  if (!removed) return undefined
  const { key, version } = removed
  const state = expected.get(key)
  const only = state ?? (version === undefined ? undefined : { version })
  const differs = () => new NotPlaced({ outcome: state ? 'changed' : 'stale', key })
  const seen = await tagOf(attempt, key)
  if (only && seen !== only.version) throw differs()
  if (seen === undefined) return undefined
  const find = (late: Bucket) => findDeleteMarker(late, key)
  const explain = async () => only && differs()
  const call = deleteState({ ...bucket, client: bucket.once }, key, only?.version)
  return awaitVersion(attempt, { key, isNew: false, find, explain }, call)
}

// Changes that expect a state come first, one by one. If several requests expect the same state, one of them succeeds,
// and the others have not yet made anything that must be undone.
const inTurn = async (
  attempt: Attempt,
  changes: readonly Change[],
  isExpecting: (change: Change) => boolean,
  work: typeof create,
) => {
  const make = async (change: Change) => {
    if (attempt.deadline.isOver()) throw new NotPlaced({ outcome: 'late' })
    await work(attempt, change)
  }
  const others = changes.filter((change) => !isExpecting(change))
  await inParallel(changes.filter(isExpecting), 1, make)
  await inParallel(others, callsInFlight, make)
}

export const apply = async (attempt: Attempt): Promise<void> => {
  const { changes, expected } = attempt
  const covered = changes.filter((change) => change.kind === 'restore').filter(({ hiddenBy }) => hiddenBy)
  await uncover(attempt, covered)
  const sorted = changes.toSorted((one, other) => compareText(one.key, other.key))
  await inTurn(attempt, sorted, ({ kind, key }) => kind === 'put' && expected.has(key), create)
  // Without versions, the source of a move could not be restored, so it is not removed.
  const isVersioned = attempt.made.every(({ kind }) => kind !== 'object' && kind !== 'final')
  if (!isVersioned && changes.some(({ kind }) => kind === 'move')) throw new ServiceError('unavailable')
  await inTurn(attempt, changes, (change) => expected.has(removedBy(change)?.key ?? change.key), takeAway)
}
