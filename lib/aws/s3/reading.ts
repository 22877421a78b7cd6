import { Readable } from 'node:stream'
import { GetObjectCommand, type GetObjectCommandOutput, S3ServiceException } from '@aws-sdk/client-s3'
import type { ByteRange, ObjectInfo, ReadObject } from '../../storage/object-store.ts'
import { type Bucket, isMissing } from './bucket.ts'
import { headObject, toInfo } from './looking.ts'

interface Brought {
  readonly info: ObjectInfo
  readonly range: ByteRange
  readonly body: Readable | undefined
}

export const bodyOf = ({ Body }: GetObjectCommandOutput): Readable | undefined =>
  Body instanceof Readable ? Body : undefined

const broughtBy = (key: string, output: GetObjectCommandOutput): Brought => {
  const [, first = 0, last, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(output.ContentRange ?? '') ?? []
  const size = Number(total ?? output.ContentLength ?? 0)
  return {
    info: { ...toInfo(key, output), size },
    range: { first: Number(first), last: Number(last ?? size - 1) },
    body: bodyOf(output),
  }
}

/** Reads an object and a range of its bytes in one call. Of an empty object every range is unsatisfiable. */
const bring = async (
  { client, name, options }: Bucket,
  key: string,
  Range: string,
): Promise<Brought | 'missing' | 'unsatisfiable'> => {
  try {
    return broughtBy(key, await client.send(new GetObjectCommand({ Bucket: name, Key: key, Range }), options))
  } catch (error) {
    if (isMissing(error)) return 'missing'
    if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 416) return 'unsatisfiable'
    throw error
  }
}

const lookAndRead = async (
  bucket: Bucket,
  key: string,
  choose: (info: ObjectInfo) => ByteRange | undefined,
): Promise<ReadObject | undefined> => {
  const head = await headObject(bucket, key)
  if (!head) return undefined
  const info = toInfo(key, head)
  const range = choose(info)
  if (!range || range.last < range.first) return { info }
  const output = await bucket.client.send(
    new GetObjectCommand({
      Bucket: bucket.name,
      Key: key,
      Range: `bytes=${range.first}-${range.last}`,
      // The state that was described, even if it is replaced now.
      ...(head.VersionId ? { VersionId: head.VersionId } : { IfMatch: head.ETag }),
    }),
    bucket.options,
  )
  const body = bodyOf(output)
  return { info, ...(body && { body }) }
}

/** `ObjectStore.read`: one call when the expected range is chosen, otherwise two. */
export const readObject = async (
  bucket: Bucket,
  key: string,
  choose: (info: ObjectInfo) => ByteRange | undefined,
  expected: string | undefined,
): Promise<ReadObject | undefined> => {
  const brought = expected === undefined ? 'unsatisfiable' : await bring(bucket, key, expected)
  if (brought === 'missing') return undefined
  if (brought === 'unsatisfiable') return lookAndRead(bucket, key, choose)
  const { info, range, body } = brought
  const chosen = choose(info)
  if (body && chosen?.first === range.first && chosen.last === range.last) return { info, body }
  // Nobody reads these bytes; closing frees the connection.
  body?.on('error', () => {}).destroy()
  return chosen && chosen.last >= chosen.first ? lookAndRead(bucket, key, choose) : { info }
}
