import { Readable } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { largestDocument, readDocument } from '../../../lib/http/read-body.ts'
import { readXml } from '../../../lib/http/read-xml.ts'

const read = (stream: Readable) => {
  const request = { id: 'a', method: 'POST', path: '/', query: new Map(), headers: {}, body: { stream } }
  return readDocument(request, 'fieldsMalformed')
}
const refusal = (code: number, message = '') =>
  expect.objectContaining({ code, message: expect.stringContaining(message) })

test('A character of a body may be split over two pieces of the stream', async () => {
  const pieces = [...Buffer.from('{"name":"é😀"}')].map((byte) => Buffer.from([byte]))
  expect(await read(Readable.from(pieces))).toEqual({ name: 'é😀' })
})

test('A body whose stream breaks off is refused with 115000', async () => {
  const stream = new Readable({ read: () => undefined })
  const reading = read(stream)
  stream.destroy(new Error('socket hang up'))
  await expect(reading).rejects.toThrow(refusal(115000, 'The request body is incomplete. Send it again.'))
})

test('A stream over the limit is refused at once with 100013, and stays open', async () => {
  let pieces = 0
  const stream = new Readable({
    highWaterMark: 1024,
    read() {
      pieces += 1
      this.push(Buffer.alloc(1024, ' '))
    },
  })
  await expect(read(stream)).rejects.toThrow(refusal(100013))
  expect(pieces).toBeLessThan(largestDocument / 1024 + 6)
  expect(stream.destroyed).toBe(false)
})

test.each(['\r\n', '\r'])('Many line ends %j in XML do not stop other requests for a second (F-29)', (lineEnd) => {
  const copying = (['slice', 'substring', 'substr', 'replace', 'split'] as const).map((name) =>
    vi.spyOn(String.prototype, name),
  )
  onTestFinished(() => void vi.restoreAllMocks())
  const lines = lineEnd.repeat(10_000)
  expect(readXml(`<a>${lines}<b>x${lineEnd}y</b></a>`)).toEqual({ b: 'x\ny' })
  expect(copying.flatMap(({ mock }) => mock.calls).length).toBeLessThan(1_000)
})
