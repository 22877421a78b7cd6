import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { inParallel } from '../../../lib/core/in-parallel.ts'
import { folderKey, parsePath } from '../../../lib/storage/path.ts'
import { deployment } from './deployment.ts'

/** Puts empty files into a folder of the site, directly in the store. */
export const fillFolder = async (folder: string, count: number): Promise<void> => {
  const client = new S3Client()
  const prefix = folderKey('live', deployment.site, parsePath(folder))
  const keys = Array.from({ length: count }, (_, index) => `${prefix}${index}.txt`)
  await inParallel(keys, 32, async (Key) => {
    await client.send(new PutObjectCommand({ Bucket: deployment.bucket, Key, Body: Buffer.alloc(0), ContentLength: 0 }))
  })
  client.destroy()
}
