import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'

/**
 * A plain server with lib-storage: it passes the body of a PUT to a bucket as it arrives, without authorisation, checks
 * or intermediate answers.
 */
const [bucket = ''] = process.argv.slice(2)
const client = new S3Client({ forcePathStyle: true })

const server = createServer((request, response) => {
  const upload = new Upload({
    client,
    params: { Bucket: bucket, Key: 'library', Body: request },
    partSize: 8 * 1024 * 1024,
    queueSize: 4,
  })
  upload.done().then(
    () => response.end(),
    (error: unknown) => {
      console.error(error)
      response.writeHead(500).end()
    },
  )
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.once('SIGTERM', () => process.exit(0))
