import { GetObjectCommand } from '@aws-sdk/client-s3'
import { ServiceError } from '../../errors.ts'
import { asAttachment } from '../../storage/content-disposition.ts'
import type { Bucket } from './bucket.ts'
import { headObject } from './looking.ts'

/** How long a URL works, in seconds. */
const lifetime = 300

/**
 * A URL that gives the object at a key in its present version to whoever has it. The bytes come as an attachment of no particular
 * type (decisions.md, section 5): a page that somebody has uploaded must not run as one of the bucket. Errors: fileUnknown.
 */
export const downloadUrl = async (bucket: Bucket, key: string): Promise<string> => {
  const [{ getSignedUrl }, head] = await Promise.all([import('@aws-sdk/s3-request-presigner'), headObject(bucket, key)])
  if (!head) throw new ServiceError('fileUnknown')
  const command = new GetObjectCommand({
    Bucket: bucket.name,
    Key: key,
    // A file that is replaced meanwhile does not come in two halves.
    VersionId: head.VersionId,
    ResponseContentDisposition: asAttachment(key.slice(key.lastIndexOf('/') + 1)),
    ResponseContentType: 'application/octet-stream',
  })
  return getSignedUrl(bucket.client, command, { expiresIn: lifetime })
}
