import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { drawProgress, progressLine } from '../../../admin/commands/import.ts'

test.each([
  [0, 100, /^\[-{30}\] 0 %/],
  [50, 100, /^\[#{15}-{15}\] 50 %/],
  [100, 100, /^\[#{30}\] 100 % of 0\.0 MiB$/],
  [120, 100, /^\[#{30}\] 100 %/],
  [3 * 2 ** 20, undefined, /^3\.0 MiB read$/],
])('the progress line shows %i bytes of %s', (read, size, expected) => {
  expect(progressLine(read, size)).toMatch(expected)
})

test('the progress line leaves the bytes unchanged, and disappears at the end', async () => {
  const terminal = new PassThrough().setEncoding('utf8')
  const chunks = async function* () {
    yield 'äb'
    yield 'c'
  }
  expect(await Readable.from(drawProgress(chunks(), 4, terminal)).toArray()).toEqual(['äb', 'c'])
  const drawn = String(terminal.read())
  expect(drawn).toContain('75 %')
  expect(drawn.endsWith('\r\u001b[K')).toBe(true)
})
