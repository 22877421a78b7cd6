import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  type CopyObjectCommandInput,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { inParallel } from '../../core/in-parallel.ts'
import { partLength } from '../../storage/content.ts'
import { encodePath } from '../../storage/path.ts'
import { abortUpload, type Bucket, beginUpload, mostParts, sendLong } from './bucket.ts'
import { headObject } from './find.ts'

interface Source {
  readonly key: string
  readonly size: number
  readonly versionId?: string
}

// If type and mark are left out, the copy has the type and the mark of its source.
type Goal = Pick<
  CopyObjectCommandInput,
  'ContentType' | 'Metadata' | 'IfMatch' | 'IfNoneMatch' | 'CopySourceIfMatch'
> & { readonly Key: string }

const partsInFlight = 32

// With parts of this length, the copy has the same fingerprint (S-83).
const rangesOf = (size: number): readonly string[] => {
  const length = Math.max(partLength, Math.ceil(size / mostParts))
  return Array.from({ length: Math.ceil(size / length) }, (_, index) => {
    const first = index * length
    return `bytes=${first}-${Math.min(first + length, size) - 1}`
  })
}

const copyInParts = async (bucket: Bucket, CopySource: string, source: Source, goal: Goal) => {
  const { client, once, name, finding = bucket } = bucket
  const { Key, IfMatch, IfNoneMatch, CopySourceIfMatch } = goal
  const described = goal.Metadata ? goal : await headObject(bucket, source.key, source.versionId)
  const { ContentType, Metadata } = described ?? {}
  const UploadId = await beginUpload(bucket, { Key, ContentType, Metadata })
  const upload = { Bucket: name, Key, UploadId }
  const Parts: CompletedPart[] = []
  const copyPart = async ([index, CopySourceRange]: readonly [number, string]): Promise<void> => {
    const part = { ...upload, PartNumber: index + 1, CopySource, CopySourceRange, CopySourceIfMatch }
    const { CopyPartResult } = await sendLong(bucket, (options) =>
      client.send(new UploadPartCopyCommand(part), options),
    )
    Parts[index] = { PartNumber: index + 1, ETag: CopyPartResult?.ETag }
  }
  try {
    await inParallel(rangesOf(source.size).entries(), partsInFlight, copyPart)
    const joined = { ...upload, IfMatch, IfNoneMatch, MultipartUpload: { Parts } }
    return await sendLong(bucket, (options) => once.send(new CompleteMultipartUploadCommand(joined), options))
  } catch (error) {
    await abortUpload(finding, { key: Key, uploadId: UploadId }).catch(() => {})
    throw error
  }
}

/**
 * A single connection is too slow for a large object, so its parts are copied side by side. A copy has no tags: S3 copies
 * tags, which other programs may have set, only with further rights.
 */
export const sendCopy = (bucket: Bucket, source: Source, goal: Goal) => {
  const { once, name, largestCopy } = bucket
  const { key, size, versionId } = source
  const path = `${name}/${encodePath(key)}`
  const CopySource = versionId === undefined ? path : `${path}?versionId=${encodeURIComponent(versionId)}`
  if (size > largestCopy) return copyInParts(bucket, CopySource, source, goal)
  const MetadataDirective = goal.Metadata ? 'REPLACE' : undefined
  const ofCopy = { Bucket: name, CopySource, MetadataDirective, TaggingDirective: 'REPLACE' } as const
  const command = new CopyObjectCommand({ ...ofCopy, ...goal })
  return sendLong(bucket, (options) => once.send(command, options))
}
