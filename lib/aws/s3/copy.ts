import { randomUUID } from 'node:crypto'
import { CopyObjectCommand } from '@aws-sdk/client-s3'
import { type Expected, NotPlaced, type Restoration, type Transfer } from '../../storage/object-store.ts'
import { awaitVersion, explainRefusal, type StepBuckets, type StepResult } from './attempt.ts'
import { type Bucket, copySource, isMissing, longOptions, unquote } from './bucket.ts'
import { findMarked, findObject, headObject } from './find.ts'
import { onlyOnto } from './put.ts'
import { findVersion } from './versions.ts'

// A copy has the mark of its source. Objects that others have put into the bucket may have none.
const findCopy = async (bucket: Bucket, { from, key }: Transfer): Promise<string | undefined> => {
  const copy = await headObject(bucket, key)
  if (!copy) return undefined
  const mark = (await headObject(bucket, from.key))?.Metadata?.['change']
  const isOwn = mark ? copy.Metadata?.['change'] === mark : unquote(copy.ETag) === from.version
  return isOwn ? copy.VersionId : undefined
}

/** Copies an object to a free key, for copies and moves. Errors: NotPlaced. */
export const copyObject = async (buckets: StepBuckets, transfer: Transfer): Promise<StepResult> => {
  const { doing, finding } = buckets
  const { kind, from, key, contentType } = transfer
  // MiniStack ignores IfNoneMatch of a copy. Copies are many and keep their source, so they go without this look.
  if (kind === 'move' && (await headObject(doing, key))) throw new NotPlaced({ outcome: 'occupied', key })
  const mark = randomUUID()
  const command = new CopyObjectCommand({
    Bucket: doing.name,
    Key: key,
    CopySource: copySource(doing, from.key),
    CopySourceIfMatch: from.version,
    IfNoneMatch: '*',
    ...(contentType && { ContentType: contentType, MetadataDirective: 'REPLACE', Metadata: { change: mark } }),
  })
  const find = () => (contentType ? findMarked(finding, key, mark) : findCopy(finding, transfer))
  const call = doing.once.send(command, longOptions(doing))
  const result = await awaitVersion(buckets, { key, isNew: true, find }, call)
  return explainRefusal(result, async (refusal) => {
    const isTaken = !isMissing(refusal) && (await headObject(doing, key))
    return new NotPlaced(isTaken ? { outcome: 'occupied', key } : { outcome: 'stale', key: from.key })
  })
}

interface Present {
  readonly expected: Expected | undefined
  // Nothing may be at the key.
  readonly mustBeFree: boolean
}

/** Copies an old version onto its key, which is free or as it was seen. Errors: NotPlaced. */
export const copyVersion = async (
  buckets: StepBuckets,
  { key, id }: Restoration,
  { expected, mustBeFree }: Present,
): Promise<StepResult> => {
  const { doing, finding } = buckets
  const [info, present] = await Promise.all([findVersion(doing, key, id), findObject(doing, key)])
  if (!info) throw new NotPlaced({ outcome: 'stale', key })
  if (present && mustBeFree) throw new NotPlaced({ outcome: 'occupied', key })
  const seen = expected ?? { key, version: present?.version }
  const mark = randomUUID()
  const command = new CopyObjectCommand({
    Bucket: doing.name,
    Key: key,
    CopySource: `${copySource(doing, key)}?versionId=${encodeURIComponent(id)}`,
    MetadataDirective: 'REPLACE',
    ContentType: info.contentType,
    Metadata: { change: mark },
    ...onlyOnto(seen),
  })
  const creation = { key, isNew: seen.version === undefined, find: () => findMarked(finding, key, mark) }
  const result = await awaitVersion(buckets, creation, doing.once.send(command, longOptions(doing)))
  return explainRefusal(result, async () => {
    if (expected) return new NotPlaced({ outcome: 'changed', key })
    // Something was put there, or removed, between the look and the call.
    const isTaken = mustBeFree && (await headObject(doing, key))
    return new NotPlaced({ outcome: isTaken ? 'occupied' : 'stale', key })
  })
}
