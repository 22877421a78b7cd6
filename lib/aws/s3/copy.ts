import { randomUUID } from 'node:crypto'
import { CopyObjectCommand, type CopyObjectCommandInput, type CopyObjectCommandOutput } from '@aws-sdk/client-s3'
import { type Expected, NotPlaced, type Restoration, type Transfer } from '../../storage/object-store.ts'
import { awaitVersion, explainRefusal, type StepBuckets, type StepResult } from './attempt.ts'
import { type Bucket, isMissing, longOptions, marked, markOf, onlyOnto, unquote } from './bucket.ts'
import { findMarked, findObject, headObject } from './find.ts'
import { findVersion } from './versions.ts'

interface Source {
  readonly key: string
  readonly versionId?: string
}

/** Without a type and a mark, a copy has those of its source. */
export const sendCopy = (
  bucket: Bucket,
  { key, versionId }: Source,
  copy: Pick<CopyObjectCommandInput, 'ContentType' | 'Metadata' | 'IfMatch' | 'IfNoneMatch' | 'CopySourceIfMatch'> & {
    readonly Key: string
  },
): Promise<CopyObjectCommandOutput> => {
  const { once, name } = bucket
  const path = `${name}/${key.split('/').map(encodeURIComponent).join('/')}`
  const CopySource = versionId === undefined ? path : `${path}?versionId=${encodeURIComponent(versionId)}`
  const MetadataDirective = copy.Metadata ? 'REPLACE' : undefined
  return once.send(new CopyObjectCommand({ Bucket: name, CopySource, MetadataDirective, ...copy }), longOptions(bucket))
}

// Objects that others have put into the bucket may have no mark.
const findCopy = async (bucket: Bucket, { from, key }: Transfer): Promise<string | undefined> => {
  const copy = await headObject(bucket, key)
  if (!copy) return undefined
  const mark = markOf(await headObject(bucket, from.key))
  const isOwn = mark ? markOf(copy) === mark : unquote(copy.ETag) === from.version
  return isOwn ? copy.VersionId : undefined
}

/** Copies an object to a free key, for copies and moves. Errors: NotPlaced. */
export const copyObject = async (buckets: StepBuckets, transfer: Transfer): Promise<StepResult> => {
  const { doing, finding } = buckets
  const { kind, from, key, contentType } = transfer
  // MiniStack 1.5.33 ignores IfNoneMatch of a copy. Copies are many and keep their source: they skip this look.
  if (kind === 'move' && (await headObject(doing, key))) throw new NotPlaced({ outcome: 'occupied', key })
  const mark = randomUUID()
  const goal = { Key: key, CopySourceIfMatch: from.version, IfNoneMatch: '*' }
  const call = sendCopy(doing, { key: from.key }, { ...goal, ...(contentType && marked(contentType, mark)) })
  const find = () => (contentType ? findMarked(finding, key, mark) : findCopy(finding, transfer))
  const result = await awaitVersion(buckets, { key, isNew: true, find }, call)
  return explainRefusal(result, async (refusal) => {
    const isTaken = !isMissing(refusal) && (await headObject(doing, key))
    return new NotPlaced(isTaken ? { outcome: 'occupied', key } : { outcome: 'stale', key: from.key })
  })
}

interface Present {
  readonly expected: Expected | undefined
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
  const seen = expected ?? { version: present?.version }
  const mark = randomUUID()
  const goal = { Key: key, ...marked(info.contentType, mark), ...onlyOnto(seen) }
  const creation = { key, isNew: seen.version === undefined, find: () => findMarked(finding, key, mark) }
  const result = await awaitVersion(buckets, creation, sendCopy(doing, { key, versionId: id }, goal))
  return explainRefusal(result, async () => {
    if (expected) return new NotPlaced({ outcome: 'changed', key })
    const isTaken = mustBeFree && (await headObject(doing, key))
    return new NotPlaced({ outcome: isTaken ? 'occupied' : 'stale', key })
  })
}
