import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { checkDataDirectory } from '../../../lib/machine/check/check-directory.ts'
import { storage } from '../../support/paths.ts'
import { test } from '../../support/test.ts'

const mebibyte = 1024 * 1024
const inTus = { 'Tus-Resumable': '1.0.0' }
const content = randomBytes(40 * mebibyte)
const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

/** Sends chunk by chunk from an offset on, and waits for `between` before each chunk. */
async function* piecesFrom(offset: number, between: (at: number) => Promise<void>): AsyncGenerator<Uint8Array> {
  for (let at = offset; at < content.length; at += mebibyte / 2) {
    await between(at)
    yield content.subarray(at, at + mebibyte / 2)
  }
}

test('no acknowledged byte is lost, and the next process continues the upload', async ({ start, directory }) => {
  const first = await start()
  const created = await first.request(storage, {
    method: 'POST',
    headers: { ...inTus, 'Upload-Length': String(content.length), 'Upload-Metadata': 'filename bGFyZ2UuYmlu' },
  })
  const path = new URL(created.headers.get('location') ?? '').pathname
  const append = (service: typeof first, offset: number, body: NonNullable<RequestInit['body']>) =>
    service.request(path, {
      method: 'PATCH',
      headers: { ...inTus, 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' },
      body,
      duplex: 'half',
    })
  const offsetAt = async (service: typeof first) => {
    const { headers } = await service.request(path, { method: 'HEAD', headers: inTus })
    return Number(headers.get('upload-offset'))
  }

  const answered = 3 * mebibyte
  expect((await append(first, 0, content.subarray(0, answered))).status).toBe(204)
  // The process is killed after it has recorded some bytes of a long append, and before it answers.
  const dying = append(
    first,
    answered,
    ReadableStream.from(
      piecesFrom(answered, async (at) => {
        if (at < answered + 24 * mebibyte) return
        while ((await offsetAt(first)) === answered);
        first.kill('SIGKILL')
        await first.ended
      }),
    ),
  )
  await expect(dying).rejects.toThrow()

  const second = await start()
  const offset = await offsetAt(second)
  expect(offset).toBeGreaterThan(answered)
  expect((await append(second, offset, ReadableStream.from(piecesFrom(offset, async () => {})))).status).toBe(204)
  const file = await second.request(`${storage}/large.bin`)
  expect(md5(Buffer.from(await file.arrayBuffer()))).toBe(md5(content))
  await second.stop()
  expect(await checkDataDirectory(directory)).toEqual([])
})
