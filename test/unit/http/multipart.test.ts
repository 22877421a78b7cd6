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

async function* byteByByte(body: Buffer) {
  for (const byte of body) yield Buffer.of(byte)
}

it('finds a first boundary that has a line end in front of it, however the bytes arrive', async () => {
  const body = Buffer.concat([
    Buffer.from('\r\n'),
    part(Buffer.from('1')),
    part(Buffer.from('2')),
    Buffer.from('--b--\r\n'),
  ])
  for (const pieces of [inOnePiece, byteByByte]) {
    const contents: string[] = []
    for await (const { content } of readMultipart(pieces(body), 'b')) {
      let text = ''
      for await (const chunk of content) text += Buffer.from(chunk).toString()
      contents.push(text)
    }
    expect(contents).toEqual(['1', '2'])
  }
})

it('reads a body of 1,000 parts, and refuses one of 1,001', async () => {
  const read = async (count: number) => {
    const parts = Array.from({ length: count }, () => part(Buffer.from('x')))
    let found = 0
    for await (const _ of readMultipart(inOnePiece(Buffer.concat([...parts, Buffer.from('--b--\r\n')])), 'b')) found++
    return found
  }
  expect(await read(1_000)).toBe(1_000)
  await expect(read(1_001)).rejects.toThrow('more than 1000 parts')
})
