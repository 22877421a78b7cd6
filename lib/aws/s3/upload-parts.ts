import { randomUUID } from 'node:crypto'
import {
  type CompletedPart,
  GetObjectCommand,
  PutObjectCommand,
  type Part as S3Part,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { partLength, together, untilFailure } from '../../storage/content.ts'
import type { Staged } from '../../storage/object-store.ts'
import { storageRefused } from '../../storage/refusals.ts'
import type {
  DirectParts,
  Holding,
  PartAddress,
  StoredPart,
  StoredUpload,
  UploadParts,
  WholeUpload,
} from '../../storage/uploads/upload.ts'
import { requireParts } from '../../storage/uploads/uploads.ts'
import {
  abortUpload,
  type Bucket,
  beginUpload,
  isUploadGone,
  listParts,
  marked,
  markOf,
  sendPart,
  type Upload,
  unquote,
} from './bucket.ts'
import { sendCopy } from './copy.ts'
import { deleteState } from './delete.ts'
import { headObject } from './find.ts'
import { createPartBuffers, inParts, type Part, type PartBuffers, type StagedBody } from './stage.ts'
import { listVersions } from './versions.ts'

interface Deps {
  readonly bucket: Bucket
  readonly adopt: (body: StagedBody) => Staged
  readonly buffers?: PartBuffers
}

const partsInFlight = 4

// If a placement is undone, the bytes are copied to this key, so that another attempt finds them. A lifecycle rule
// removes them later.
const spareKey = (id: StoredUpload['id']): string => `scratch/uploads/${id}/whole`

// In milliseconds: S3 refuses signatures if the clock of the caller differs by more.
const clockSkew = 15 * 60_000

const newTailKey = (id: string): string => `scratch/uploads/${id}/tail-${randomUUID()}`

const uploadOf = ({ target, holding }: StoredUpload): Upload => ({ key: target.key, uploadId: holding.name })

const toStored = ({ PartNumber, Size }: S3Part): StoredPart => ({ number: Number(PartNumber), size: Number(Size) })

const throwGone = (error: unknown): never => {
  throw isUploadGone(error) ? new ServiceError('uploadUnknown', { cause: error }) : error
}

// Entity tags are no MD5 sums if KMS encrypts the bucket. Errors: PartMissing; storageRefused, when a late call has
// overwritten a part of an append.
const checkedParts = async (bucket: Bucket, upload: WholeUpload): Promise<CompletedPart[]> => {
  const { target, length, holding } = upload
  const sent = uploadOf(upload)
  if (target.isDirect) {
    const parts = await listParts(bucket, sent)
    requireParts(parts.map(toStored), upload)
    return parts
  }
  const tags = [...holding.parts]
  const rest = await readTail(bucket, holding.tail, length - tags.length * partLength)
  if (rest.length > 0) tags.push(unquote((await sendPart(bucket, sent, tags.length + 1, rest)).ETag))
  const parts = (await listParts(bucket, sent)).slice(0, tags.length)
  const isKept = ({ PartNumber, ETag }: CompletedPart, index: number) =>
    PartNumber === index + 1 && unquote(ETag) === tags[index]
  if (parts.length === tags.length && parts.every(isKept)) return parts
  throw storageRefused('The stored parts of the upload were overwritten. Nothing was stored. Create a new upload.')
}

const readTail = async ({ client, name }: Bucket, tail: string | null, length: number): Promise<Buffer> => {
  if (length <= 0) return Buffer.alloc(0)
  const stored = tail === null ? undefined : await client.send(new GetObjectCommand({ Bucket: name, Key: tail }))
  const bytes = Buffer.from((await stored?.Body?.transformToByteArray()) ?? [])
  if (bytes.length < length) throw new Error(`The tail ${tail} has ${bytes.length} bytes instead of ${length}`)
  return bytes.subarray(0, length)
}

const looksAtOnce = 16

// True when the upload became a version, even if that version was replaced or removed afterwards.
const isInPlace = async (bucket: Bucket, { id, target: { key }, created }: WholeUpload): Promise<boolean> => {
  if (markOf(await headObject(bucket, key)) === id) return true
  const all = await listVersions(bucket, key, { limit: Number.POSITIVE_INFINITY })
  const late = all?.versions.filter(({ at }) => at >= created - clockSkew).toReversed() ?? []
  let isFound = false
  await inParallel(late, looksAtOnce, async (version) => {
    if (!isFound && markOf(await headObject(bucket, key, version.id)) === id) isFound = true
  })
  return isFound
}

// S3 joins parts once. S3 can copy a tail several times, but only while the tail is visible at its key.
const moveBytes = async (bucket: Bucket, { id, holding, length }: WholeUpload): Promise<Holding> => {
  const key = holding.name === '' ? holding.tail : spareKey(id)
  const [newest] = (key !== null && (await listVersions(bucket, key, { limit: 1 }))?.versions) || []
  if (key === null || !newest || newest.id === 'null') return holding
  if (newest.isCurrent) await deleteState(bucket, key)
  const tail = newTailKey(id)
  await sendCopy(bucket, { key, size: length, versionId: newest.id }, { Key: tail })
  return { name: '', parts: [], tail }
}

// The parts and the tail, which become the file when they are joined. Errors: uploadUnknown, when the parts are gone;
// unavailable, when another request has just joined them.
const joinedParts = async (bucket: Bucket, upload: WholeUpload): Promise<StagedBody['content']> => {
  const { id, length } = upload
  try {
    const parts = await checkedParts(bucket, upload)
    return { kind: 'upload', ...uploadOf(upload), parts, spare: { key: spareKey(id), size: length } }
  } catch (error) {
    if (!isUploadGone(error)) throw error
    throw new ServiceError((await isInPlace(bucket, upload)) ? 'unavailable' : 'uploadUnknown', { cause: error })
  }
}

/**
 * The bytes of uploads in S3: parts of exactly 8 MiB of a multipart upload, and a tail. Each append writes its tail
 * under a new key. A file of up to 8 MiB has only a tail. `name` of a holding is the id of the multipart upload, and is
 * empty if there is none.
 */
export const createUploadParts = ({ bucket, adopt, buffers = createPartBuffers() }: Deps): UploadParts => ({
  begin: async () => ({ name: '', parts: [], tail: null }),

  async append({ id, target, length, holding }, offset, content, durable, isOver) {
    using lending = buffers.open()
    const { key, contentType } = target
    const before = holding.parts.length
    const tailBefore = await readTail(bucket, holding.tail, offset - before * partLength)
    const { received, chunks } = untilFailure(content)
    // Parts may arrive in any order. The parts before the first gap are kept. Until the first new part has arrived, only
    // the tail contains its bytes.
    const tags = [...holding.parts]
    let kept = before
    let rest: Uint8Array = Buffer.alloc(0)
    let opened: Promise<string> | undefined = holding.name === '' ? undefined : Promise.resolve(holding.name)

    const sendOne = async (number: number, bytes: Buffer): Promise<void> => {
      opened ??= beginUpload(bucket, { Key: key, ...marked(contentType, id), ChecksumAlgorithm: 'CRC32' })
      const uploadId = await opened
      // Late bytes could overwrite the bytes of the next holder.
      if (isOver()) throw new ServiceError('unavailable')
      const sent = await sendPart(bucket, { key, uploadId }, number, bytes).catch(throwGone)
      tags[number - 1] = unquote(sent.ETag)
      while (tags[kept] !== undefined) kept += 1
      if (kept === before) return
      durable.size = kept * partLength - offset
      durable.holding = { name: uploadId, parts: tags.slice(0, kept), tail: null }
    }
    // If the upload has several parts, a full last part need not become a tail.
    const isTail = ({ bytes, isLast }: Part): boolean =>
      isLast && !(bytes.length === partLength && received.size > 0 && length !== null && length > partLength)
    await inParallel(inParts(together([tailBefore], chunks), lending), partsInFlight, async (part) => {
      if (isTail(part)) {
        rest = part.bytes
        return
      }
      await lending.send(part, (bytes) => sendOne(before + part.number, bytes))
    })
    if (received.size === 0 && length !== 0) return { ...received, holding }
    const tail = rest.length > 0 || length === 0 ? newTailKey(id) : null
    if (tail) await bucket.client.send(new PutObjectCommand({ Bucket: bucket.name, Key: tail, Body: rest }))
    return { ...received, holding: { name: (await opened) ?? '', parts: tags, tail } }
  },

  async *read(upload) {
    yield await readTail(bucket, upload.holding.tail, upload.length)
  },

  async takeOver(upload) {
    const holding = await moveBytes(bucket, upload)
    return (await isInPlace(bucket, upload)) ? undefined : holding
  },

  async whole(upload, claim) {
    const { id, target, length, holding } = upload
    const { name, tail } = holding
    const small =
      tail === null ? ({ kind: 'memory', bytes: Buffer.alloc(0) } as const) : ({ kind: 'object', key: tail } as const)
    const content = name === '' ? small : await joinedParts(bucket, upload)
    return adopt({ id, size: length, contentType: target.contentType, content, claim })
  },

  async remove(upload) {
    if (upload.holding.name !== '') await abortUpload(bucket, uploadOf(upload))
  },
})

// In seconds. A caller can request a new address when an address has expired.
const addressLasts = 3_600

// If the digest were in the query of an address, S3 would not compare it with the bytes.
const digestHeader = 'x-amz-checksum-sha256'

export const createDirectParts = (bucket: Bucket): DirectParts => ({
  async begin({ id, target: { key, contentType } }) {
    const goal = { Key: key, ...marked(contentType, id), ChecksumAlgorithm: 'SHA256' } as const
    return { name: await beginUpload(bucket, goal), parts: [], tail: spareKey(id) }
  },

  async addressesOf(upload, parts) {
    const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
    const { key, uploadId } = uploadOf(upload)
    return Promise.all(
      parts.map(async ({ number, sha256 }): Promise<PartAddress> => {
        const digest = Buffer.from(sha256, 'hex').toString('base64')
        const part = { Bucket: bucket.name, Key: key, UploadId: uploadId, PartNumber: number, ChecksumSHA256: digest }
        const url = await getSignedUrl(bucket.client, new UploadPartCommand(part), {
          expiresIn: addressLasts,
          unhoistableHeaders: new Set([digestHeader]),
        })
        return { number, url, headers: { [digestHeader]: digest } }
      }),
    )
  },

  async stored(upload) {
    const parts = await listParts(bucket, uploadOf(upload)).catch(throwGone)
    return parts.map(toStored)
  },
})
