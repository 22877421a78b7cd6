import { addAbortSignal, Readable } from 'node:stream'
import { GetObjectCommand, type GetObjectCommandOutput } from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { type Deadline, reserves } from '../../core/time.ts'
import type { DownloadLink } from '../../service/deps.ts'
import { createFingerprint } from '../../storage/content.ts'
import { asAttachment } from '../../storage/file-kind.ts'
import type { ChooseBytes, ObjectInfo } from '../../storage/object-store.ts'
import { nameOf } from '../../storage/path.ts'
import { type Bucket, isMissing, isRefused, statusOf, until } from './bucket.ts'
import { findObject, toInfo } from './find.ts'
import { findVersion } from './versions.ts'

const bodyOf = ({ Body }: GetObjectCommandOutput): Readable | undefined => (Body instanceof Readable ? Body : undefined)

// Reads an object and a range of its bytes in one call. An empty object satisfies no range.
const tryRange = async ({ client, name, options }: Bucket, key: string, Range: string) => {
  try {
    const output = await client.send(new GetObjectCommand({ Bucket: name, Key: key, Range }), options)
    const [, first = 0, last, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(output.ContentRange ?? '') ?? []
    const size = Number(total ?? output.ContentLength ?? 0)
    const range = { first: Number(first), last: Number(last ?? size - 1) }
    return { info: { ...toInfo(key, output), size }, range, body: bodyOf(output) }
  } catch (error) {
    if (isMissing(error)) return 'missing'
    if (statusOf(error) === 416) return 'unsatisfiable'
    throw error
  }
}

const readChosen = async ({ client, name, options }: Bucket, info: ObjectInfo, choose: ChooseBytes) => {
  const range = choose(info)
  if (!range || range.last < range.first) return { info }
  const state = info.versionId ? { VersionId: info.versionId } : { IfMatch: info.version }
  const Range = `bytes=${range.first}-${range.last}`
  const command = new GetObjectCommand({ Bucket: name, Key: info.key, Range, ...state })
  const output = await client.send(command, options).catch((error: unknown) => {
    throw isRefused(error) ? new ServiceError('unavailable', { cause: error }) : error
  })
  const body = bodyOf(output)
  return { info, ...(body && { body }) }
}

export const lookAndRead = async (bucket: Bucket, key: string, choose: ChooseBytes, versionId?: string) => {
  const info = await (versionId === undefined ? findObject(bucket, key) : findVersion(bucket, key, versionId))
  return info && readChosen(bucket, { ...info, ...(versionId !== undefined && { versionId }) }, choose)
}

export const computeFingerprint = async (bucket: Bucket, info: ObjectInfo, given: Deadline): Promise<string | null> => {
  using deadline = given.reserving(reserves.settle)
  const making = createFingerprint()
  const whole: ChooseBytes = ({ size }) => ({ first: 0, last: size - 1 })
  try {
    const { body } = await readChosen(until(bucket, deadline.signal), info, whole)
    if (body) for await (const chunk of addAbortSignal(deadline.signal, body)) making.update(chunk)
    return making.digest()
  } catch (error) {
    if (deadline.isOver() || isRefused(error)) return null
    throw error
  }
}

/** Implements `ObjectStore.read`. Needs one call if `choose` selects the expected range, and otherwise two calls. */
export const readObject = async (bucket: Bucket, key: string, choose: ChooseBytes, expected: string | undefined) => {
  const found = expected === undefined ? 'unsatisfiable' : await tryRange(bucket, key, expected)
  if (found === 'missing') return undefined
  if (found === 'unsatisfiable') return lookAndRead(bucket, key, choose)
  const { info, range, body } = found
  const chosen = choose(info)
  if (body && chosen?.first === range.first && chosen.last === range.last) return { info, body }
  // Nobody reads these bytes, so closing the stream frees the connection.
  body?.on('error', () => {}).destroy()
  return chosen && chosen.last >= chosen.first ? lookAndRead(bucket, key, choose) : { info }
}

const linkSeconds = 300

/**
 * A URL for this version of an object. The bytes come as an attachment without a type, because an uploaded page must
 * not run as a page of the bucket. The URL expires no later than the credentials that signed it.
 */
export const downloadLink = async (
  { client, name }: Pick<Bucket, 'client' | 'name'>,
  { key, versionId }: Pick<ObjectInfo, 'key' | 'versionId'>,
): Promise<DownloadLink> => {
  const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
  const command = new GetObjectCommand({
    Bucket: name,
    Key: key,
    // If the file is replaced meanwhile, a download does not mix two versions.
    VersionId: versionId,
    ResponseContentDisposition: asAttachment(nameOf(key)),
    ResponseContentType: 'application/octet-stream',
  })
  // S3 counts whole seconds.
  const signedAt = Math.floor(Date.now() / 1000) * 1000
  const { expiration } = await client.config.credentials().catch((cause: unknown) => {
    throw new ServiceError('unavailable', { cause })
  })
  const url = await getSignedUrl(client, command, { expiresIn: linkSeconds, signingDate: new Date(signedAt) })
  return { url, expires: Math.min(signedAt + linkSeconds * 1000, expiration?.getTime() ?? Number.POSITIVE_INFINITY) }
}
