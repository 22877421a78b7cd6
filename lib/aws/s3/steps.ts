import { randomUUID } from 'node:crypto'
import { CompleteMultipartUploadCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { listAll } from '../../storage/many-objects.ts'
import { type Expected, NotPlaced, type Restoration, type Transfer } from '../../storage/object-store.ts'
import { awaitLateCalls, awaitVersion, type Made, type StepResult } from './attempt.ts'
import {
  type Bucket,
  callsInFlight,
  isMissing,
  isUploadGone,
  longOptions,
  marked,
  onlyOnto,
  type StepBucket,
  unquote,
} from './bucket.ts'
import { sendCopy } from './copy.ts'
import { type Doomed, deleteAll, deleteState } from './delete.ts'
import { findCopy, findMarked, findObject, headObject, listObjects } from './find.ts'
import { isScratch, type StagedBody } from './stage.ts'
import { findVersion, listPage } from './versions.ts'

export interface PutGoal {
  readonly key: string
  readonly expected: Expected | undefined
}

const sendBody = (bucket: Bucket, { key, expected }: PutGoal, { content, contentType, id, size }: StagedBody) => {
  const { once, name, options } = bucket
  const goal = { Key: key, ...onlyOnto(expected) }
  const described = marked(contentType, id)
  // The source stays, so that a later attempt can copy it again.
  if (content.kind === 'object') return sendCopy(bucket, { ...content, size }, { ...goal, ...described })
  if (content.kind === 'memory') {
    return once.send(new PutObjectCommand({ Bucket: name, ...goal, ...described, Body: content.bytes }), options)
  }
  const upload = { UploadId: content.uploadId, MultipartUpload: { Parts: content.parts } }
  return once.send(new CompleteMultipartUploadCommand({ Bucket: name, ...goal, ...upload }), longOptions(bucket))
}

/** Puts a staged body at a key. An upload can be completed only at its own key. Errors of the steps: NotPlaced. */
export const putBody = async (bucket: StepBucket, write: PutGoal, body: StagedBody): Promise<StepResult> => {
  const { key, expected } = write
  const { content } = body
  const spare = content.kind === 'upload' ? content.spare : undefined
  const isNew = expected ? expected.version === undefined : isScratch(key)
  const find = (late: Bucket) => findMarked(late, key, body.id)
  const explain = async (refusal: unknown) => {
    const isSourceGone = content.kind === 'object' && !(await headObject(bucket.finding, content.key))
    if (isUploadGone(refusal) || isSourceGone) return new ServiceError('unavailable', { cause: refusal })
    return expected ? new NotPlaced({ outcome: 'changed', key }) : refusal
  }
  return awaitVersion(bucket, { key, isNew, spare, find, explain }, sendBody(bucket, write, body))
}

export const createFolder = async (bucket: StepBucket, { key, expected }: PutGoal): Promise<StepResult> => {
  const { once, name, options } = bucket
  const changed = new NotPlaced({ outcome: 'changed', key })
  if (await headObject(bucket, key)) {
    if (expected && expected.version === undefined) throw changed
    return { made: [] }
  }
  const mark = randomUUID()
  const goal = { Bucket: name, Key: key, Metadata: { change: mark }, ...onlyOnto(expected) }
  const command = new PutObjectCommand({ ...goal, Body: Buffer.alloc(0), ContentLength: 0 })
  const find = (late: Bucket) => findMarked(late, key, mark)
  const explain = async (refusal: unknown) => (expected ? changed : refusal)
  return awaitVersion(bucket, { key, isNew: true, find, explain }, once.send(command, options))
}

export const copyObject = async (bucket: StepBucket, transfer: Transfer): Promise<StepResult> => {
  const { kind, from, key, contentType } = transfer
  // MiniStack 1.5.33 ignores IfNoneMatch in a copy, so a HEAD of the key replaces it. Copies of a folder skip this
  // HEAD, because they are many and keep their source.
  if (kind === 'move' && (await headObject(bucket, key))) throw new NotPlaced({ outcome: 'occupied', key })
  const mark = randomUUID()
  const goal = { Key: key, CopySourceIfMatch: from.version, IfNoneMatch: '*' }
  const call = sendCopy(
    bucket,
    { key: from.key, size: from.size },
    { ...goal, ...(contentType && marked(contentType, mark)) },
  )
  const find = (late: Bucket) => (contentType ? findMarked(late, key, mark) : findCopy(late, from, key))
  const explain = async (refusal: unknown) => {
    const isTaken = !isMissing(refusal) && (await headObject(bucket, key))
    return new NotPlaced(isTaken ? { outcome: 'occupied', key } : { outcome: 'stale', key: from.key })
  }
  return awaitVersion(bucket, { key, isNew: true, find, explain }, call)
}

export const copyVersion = async (
  bucket: StepBucket,
  { id }: Restoration,
  { key, expected, mustBeFree }: PutGoal & { readonly mustBeFree: boolean },
): Promise<StepResult> => {
  const [info, present] = await Promise.all([findVersion(bucket, key, id), findObject(bucket, key)])
  if (!info) throw new NotPlaced({ outcome: 'stale', key })
  if (present && mustBeFree) throw new NotPlaced({ outcome: 'occupied', key })
  const seen = expected ?? { version: present?.version }
  const mark = randomUUID()
  const goal = { Key: key, ...marked(info.contentType, mark), ...onlyOnto(seen) }
  const find = (late: Bucket) => findMarked(late, key, mark)
  const explain = async () => {
    if (expected) return new NotPlaced({ outcome: 'changed', key })
    const isTaken = mustBeFree && (await headObject(bucket, key))
    return new NotPlaced({ outcome: isTaken ? 'occupied' : 'stale', key })
  }
  const creation = { key, isNew: seen.version === undefined, find, explain }
  return awaitVersion(bucket, creation, sendCopy(bucket, { key, size: info.size, versionId: id }, goal))
}

const findDeleteMarker = async (bucket: Bucket, key: string): Promise<string | undefined> => {
  const { states } = await listPage(bucket, { prefix: key, folded: false, after: undefined, limit: 10 })
  const [newest] = states.get(key) ?? []
  return newest?.kind === 'marker' ? newest.id : undefined
}

/**
 * Hides an object with a delete marker. `seen` is the state that the change has seen, or undefined if there was none.
 * Without `only`, any state is hidden. Errors: NotPlaced, with this outcome if the object has another state than `only`.
 */
export const hide = async (
  bucket: StepBucket,
  { key, seen }: { readonly key: string; readonly seen: string | undefined },
  only: Pick<Expected, 'version'> | undefined,
  outcome: 'changed' | 'stale',
): Promise<StepResult> => {
  const differs = () => new NotPlaced({ outcome, key })
  if (only && seen !== only.version) throw differs()
  if (seen === undefined) return { made: [] }
  const find = (late: Bucket) => findDeleteMarker(late, key)
  const call = deleteState(bucket, bucket.once, { key, tag: only?.version })
  const explain = async () => only && differs()
  return awaitVersion(bucket, { key, isNew: false, find, explain }, call)
}

// The innermost common folder in each edition of each site, below a prefix such as `live/1001/`.
const commonFolders = (restorations: readonly Restoration[]): readonly string[] =>
  [...Map.groupBy(restorations, ({ key }) => key.split('/', 2).join('/')).values()].map((some) => {
    const keys = some.map(({ key }) => key).sort()
    const [first = '', last = ''] = [keys[0], keys.at(-1)]
    let length = 0
    while (length < first.length && first[length] === last[length]) length += 1
    return first.slice(0, first.lastIndexOf('/', length - 1) + 1)
  })

const withoutListed = async (bucket: Bucket, restorations: readonly Restoration[]): Promise<readonly Restoration[]> => {
  const missing = new Map(restorations.map((one) => [one.key, one]))
  const mostSeen = 2 * restorations.length
  for (const folder of commonFolders(restorations)) {
    let seen = 0
    for await (const objects of listAll({ list: (query) => listObjects(bucket, query) }, folder)) {
      for (const { key, version } of objects) if (missing.get(key)?.tag === version) missing.delete(key)
      seen += objects.length
      if (seen >= mostSeen || missing.size === 0) break
    }
  }
  return [...missing.values()]
}

// A listing costs as much as a dozen HEAD requests.
const fewObjects = callsInFlight

// The first object that is missing or has other bytes. Another caller may have stored the same bytes, which does not
// count as a difference.
const findMissing = async (bucket: Bucket, restorations: readonly Restoration[]): Promise<string | undefined> => {
  const left = restorations.length > fewObjects ? await withoutListed(bucket, restorations) : restorations
  let missing: string | undefined
  await inParallel(left, callsInFlight, async ({ key, id, tag }) => {
    if (missing !== undefined) return
    const head = await headObject(bucket, key)
    if (head?.VersionId !== id && unquote(head?.ETag) !== tag) missing ??= key
  })
  return missing
}

export const uncover = async (bucket: Bucket, restorations: readonly Restoration[]): Promise<StepResult> => {
  const markers = restorations.flatMap(({ key, hiddenBy = [] }) =>
    hiddenBy.map((versionId): Doomed => ({ kind: 'version', key, versionId })),
  )
  // Some objects may be visible again even if a call fails, so the attempt gets all of them.
  const made = restorations.map(({ key }): Made => ({ kind: 'uncovered', key }))
  try {
    await deleteAll(bucket, markers)
    const missing = await findMissing(bucket, restorations)
    return missing === undefined ? { made } : { made, failure: new NotPlaced({ outcome: 'stale', key: missing }) }
  } catch (failure) {
    await awaitLateCalls(bucket)
    return { made, failure }
  }
}
