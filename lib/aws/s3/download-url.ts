import { GetObjectCommand } from '@aws-sdk/client-s3'
import type { DownloadLink } from '../../service/deps.ts'
import { asAttachment } from '../../storage/content-disposition.ts'
import type { ObjectInfo } from '../../storage/object-store.ts'
import type { Bucket } from './bucket.ts'

/** How long a URL works at the most, in seconds. */
const lifetime = 300

/** S3 counts from a whole second on. In milliseconds since the epoch. */
const thisSecond = (): number => Math.floor(Date.now() / 1000) * 1000

/**
 * A URL that gives this version of an object to whoever has it. The bytes come as an attachment of no particular type (decisions.md,
 * section 5): a page that somebody has uploaded must not run as one of the bucket. It ends with the credentials that it is signed
 * with, where these end before.
 */
export const downloadLink = async (
  { client, name }: Pick<Bucket, 'client' | 'name'>,
  { key, versionId }: Pick<ObjectInfo, 'key' | 'versionId'>,
): Promise<DownloadLink> => {
  // Only who reads a large file needs it.
  const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
  const command = new GetObjectCommand({
    Bucket: name,
    Key: key,
    // A file that is replaced meanwhile does not come in two halves.
    VersionId: versionId,
    ResponseContentDisposition: asAttachment(key.slice(key.lastIndexOf('/') + 1)),
    ResponseContentType: 'application/octet-stream',
  })
  const signedAt = thisSecond()
  const { expiration } = await client.config.credentials()
  const url = await getSignedUrl(client, command, { expiresIn: lifetime, signingDate: new Date(signedAt) })
  return { url, expires: Math.min(signedAt + lifetime * 1000, expiration?.getTime() ?? Number.POSITIVE_INFINITY) }
}
