import { expect, it } from 'vitest'
import { readMultipart } from '../../../lib/http/multipart.ts'

const part = (content: Buffer) =>
  Buffer.concat([
    Buffer.from('--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n'),
    content,
    Buffer.from('\r\n'),
  ])

async function* inOnePiece(body: Buffer) {
  yield body
}

it('reads many parts of a body that comes in one piece as quickly as one', async () => {
  const small = Array.from({ length: 900 }, () => part(Buffer.from('x')))
  const body = Buffer.concat([...small, part(Buffer.alloc(64 * 1024 * 1024)), Buffer.from('--b--\r\n')])
  const sizes: number[] = []
  for await (const { content } of readMultipart(inOnePiece(body), 'b')) {
    let size = 0
    for await (const chunk of content) size += chunk.length
    sizes.push(size)
  }
  expect(sizes).toEqual([...small.map(() => 1), 64 * 1024 * 1024])
})
