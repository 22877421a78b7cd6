import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { formHeaders, multipart } from '../../support/multipart.ts'
import { call } from '../support/deployment.ts'

/** In bytes: the largest file of a request, and the largest part of a file in an answer. */
const largestFile = 4_500_000
const largestAnswer = 4 * 1024 * 1024

const raw = { 'Content-Type': 'application/octet-stream' }
const any = { Accept: '*/*' }

const store = async (path: string, body: Buffer): Promise<void> => {
  const { status } = await call(path, { method: 'PUT', headers: raw, body })
  expect(status).toBe(200)
}

const redirected = async ({ status, headers }: Awaited<ReturnType<typeof call>>): Promise<Buffer> => {
  expect({ status, caching: headers['cache-control'] }).toEqual({ status: 302, caching: 'no-store' })
  const answer = await fetch(String(headers['location']))
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}

const largest = randomBytes(largestFile)

it('a file of the largest size comes back unchanged, from a URL of the bucket', async () => {
  await store('/sizes/largest.bin', largest)
  const bytes = await redirected(await call('/sizes/largest.bin', { headers: any }))
  expect(bytes.equals(largest)).toBe(true)
})

it('a file of the largest size can be sent in a form', async () => {
  const body = multipart([{ name: 'form.bin', content: largest }])
  expect((await call('/sizes', { method: 'POST', headers: formHeaders, body })).status).toBe(200)
  const bytes = await redirected(await call('/sizes/form.bin', { headers: any }))
  expect(bytes.equals(largest)).toBe(true)
})

it('a file with one more byte is refused with 400/104005, and nothing is stored', async () => {
  const tooLarge = Buffer.concat([largest, Buffer.from('x')])
  const form = multipart([{ name: 'refused.bin', content: tooLarge }])
  const answers = [
    await call('/sizes/refused.bin', { method: 'PUT', headers: raw, body: tooLarge }),
    await call('/sizes', { method: 'POST', headers: formHeaders, body: form }),
  ]
  for (const { status, body } of answers) {
    const { code, message } = JSON.parse(body.toString())
    expect({ status, code, message }).toEqual({
      status: 400,
      code: 104005,
      message: expect.stringMatching(new RegExp(`${largestFile} bytes.*resumable upload \\(tus`)),
    })
  }
  expect((await call('/sizes/refused.bin?meta')).status).toBe(404)
})

const content = randomBytes(largestAnswer)

it.each([
  ['anything', '*/*'],
  ['its type', 'application/octet-stream'],
  ['an image first, as browsers do', 'image/avif,image/webp,*/*;q=0.8'],
])('a file passes the gateway unchanged both ways, with Accept: %s', async (_, Accept) => {
  await store('/sizes/answer.bin', content)
  const answer = await call('/sizes/answer.bin', { headers: { Accept } })
  // LocalStack returns base64 for */*. So the bytes come from the bucket, as without Accept.
  if (answer.status === 302) expect((await redirected(answer)).equals(content)).toBe(true)
  else {
    expect(answer).toMatchObject({ status: 200, headers: { 'content-length': String(largestAnswer) } })
    expect(answer.body.equals(content)).toBe(true)
  }
})
