import { UploadPartCommand } from '@aws-sdk/client-s3'
import type { DirectParts, PartAddress, StoredUpload } from '../../storage/uploads/upload.ts'
import { type Bucket, throwUnknown, unquote } from './bucket.ts'
import { startUpload } from './stage.ts'
import { listParts } from './upload-parts.ts'

// In seconds. A caller can request a new address when an address has expired.
const addressLasts = 3_600

// If the digest were in the query of an address, S3 would not compare it with the bytes.
const digestHeader = 'x-amz-checksum-sha256'

const uploadOf = ({ target: { key }, holding: { name } }: Pick<StoredUpload, 'target' | 'holding'>) => ({
  key,
  uploadId: name,
})

export const createDirectParts = (bucket: Bucket): DirectParts => ({
  async begin({ id, target: { key, contentType } }) {
    return { name: await startUpload(bucket, { key, contentType, id }, 'SHA256'), parts: [], tail: null }
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
    const parts = await listParts(bucket, uploadOf(upload)).catch(throwUnknown)
    return parts.map(({ PartNumber, Size, ETag }) => ({
      number: Number(PartNumber),
      size: Number(Size),
      tag: unquote(ETag),
    }))
  },
})
