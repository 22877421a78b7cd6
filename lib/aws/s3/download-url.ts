import { GetObjectCommand } from '@aws-sdk/client-s3'
import { asAttachment } from '../../storage/content-disposition.ts'
import type { ObjectInfo } from '../../storage/object-store.ts'
import type { Bucket } from './bucket.ts'

/** How long a URL works, in seconds. */
const lifetime = 300

/**
 * A URL that gives this version of an object to whoever has it. The bytes come as an attachment of no particular type (decisions.md,
 * section 5): a page that somebody has uploaded must not run as one of the bucket.
 */
export const downloadUrl = async (
  { client, name }: Pick<Bucket, 'client' | 'name'>,
  { key, versionId }: Pick<ObjectInfo, 'key' | 'versionId'>,
): Promise<string> => {
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
  return getSignedUrl(client, command, { expiresIn: lifetime })
}
