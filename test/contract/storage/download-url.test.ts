import { S3Client } from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { downloadLink } from '../../../lib/aws/s3/read.ts'

const linkUntil = (expiration: Date) => {
  const credentials = async () => ({ accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c', expiration })
  const client = new S3Client({ region: 'local', endpoint: 'http://s3.test', credentials })
  return downloadLink({ client, name: 'memory' }, { key: 'live/1001/a.txt' })
}

it('A link expires after five minutes, or earlier if the credentials of its signature expire (S-69, S-73)', async () => {
  const soon = new Date(Date.now() + 60_000)
  expect((await linkUntil(soon)).expires).toBe(soon.getTime())
  const { url, expires } = await linkUntil(new Date(Date.now() + 3_600_000))
  const { searchParams } = new URL(url)
  const date = searchParams.get('X-Amz-Date') ?? ''
  const signedAt = date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  expect(expires).toBe(Date.parse(signedAt) + 300_000)
  expect(searchParams.get('X-Amz-Expires')).toBe('300')
})
