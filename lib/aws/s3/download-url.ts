import { GetObjectCommand } from '@aws-sdk/client-s3'
import type { DownloadLink } from '../../service/deps.ts'
import { asAttachment } from '../../storage/file-kind.ts'
import type { ObjectInfo } from '../../storage/object-store.ts'
import type { Bucket } from './bucket.ts'

/** In seconds. */
const lifetime = 300

// S3 counts from whole seconds. In epoch milliseconds.
const thisSecond = (): number => Math.floor(Date.now() / 1000) * 1000

/**
 * A URL for this version of an object. The bytes come as an attachment without a type: an uploaded page must not run as
 * one of the bucket. The URL ends with the credentials that signed it, if they end earlier.
 */
export const downloadLink = async (
  { client, name }: Pick<Bucket, 'client' | 'name'>,
  { key, versionId }: Pick<ObjectInfo, 'key' | 'versionId'>,
): Promise<DownloadLink> => {
  // Only downloads of large files need it.
  const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
  const command = new GetObjectCommand({
    Bucket: name,
    Key: key,
    // A file that is replaced during the download does not come in two halves.
    VersionId: versionId,
    ResponseContentDisposition: asAttachment(key.slice(key.lastIndexOf('/') + 1)),
    ResponseContentType: 'application/octet-stream',
  })
  const signedAt = thisSecond()
  const { expiration } = await client.config.credentials()
  const url = await getSignedUrl(client, command, { expiresIn: lifetime, signingDate: new Date(signedAt) })
  return { url, expires: Math.min(signedAt + lifetime * 1000, expiration?.getTime() ?? Number.POSITIVE_INFINITY) }
}
