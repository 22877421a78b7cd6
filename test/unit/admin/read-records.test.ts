import { Readable } from 'node:stream'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type RawRecord, readRecords } from '../../../admin/records/read-records.ts'
import { timesToTry } from '../../support/each-call.ts'
import { messages } from '../../support/messages.ts'

/** The text, cut at the given positions. */
const cut = (text: string, places: readonly number[]): string[] => {
  const at = [0, ...places.map((place) => place % (text.length + 1)).toSorted((a, b) => a - b), text.length]
  return at.slice(1).map((end, index) => text.slice(at[index], end))
}

const read = async (chunks: readonly string[]): Promise<RawRecord[]> => {
  async function* all() {
    yield* chunks
  }
  return Readable.from(readRecords(all())).toArray()
}

const valuesOf = (records: readonly RawRecord[]): unknown[] => records.map(({ text }) => JSON.parse(text))
const linesOf = (records: readonly RawRecord[]): number[] => records.map(({ line }) => line)

const places = fc.array(fc.nat(), { maxLength: 20 })
const mark = fc.constantFrom('', '\uFEFF')
const runs = { numRuns: timesToTry(1_000) }

const lineBreaks = (text: string) => text.split('\n').length - 1

/** The first lines of consecutive pieces, without leading blanks. */
const firstLines = (pieces: readonly string[], before = ''): number[] => {
  let line = 1 + lineBreaks(before)
  return pieces.map((piece) => {
    const own = line + lineBreaks(/^\s*/.exec(piece)?.[0] ?? '')
    line += lineBreaks(piece)
    return own
  })
}

test('each value has the number of its first line, whatever the layout', async () => {
  const blanks = fc.constantFrom('', ' ', '\t', '\n', '\r\n  ', '\n\n')
  const element = fc
    .tuple(blanks, fc.jsonValue(), fc.constantFrom(undefined, 2, '\t'), blanks)
    .map(([ahead, value, space, behind]) => ahead + JSON.stringify(value, null, space) + behind)
  const elements = fc.array(element, { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(mark, elements, blanks, places, async (bom, elements, before, places) => {
      const records = await read(cut(`${bom}${before}[${elements.join(',')}]\n`, places))
      expect(linesOf(records)).toEqual(firstLines(elements, before))
      expect(valuesOf(records)).toEqual(elements.map((text) => JSON.parse(text)))
    }),
    runs,
  )
})

test('an invalid value of an array does not affect other values', async () => {
  expect(await read(['[{"a":1},\n{"b":},\n{"c":"]},["},\n{"d":1}},\n{"e":1], 2]'])).toEqual([
    { line: 1, text: '{"a":1}' },
    { line: 2, text: '{"b":}' },
    { line: 3, text: '{"c":"]},["}' },
    { line: 4, text: '{"d":1}}' },
    { line: 5, text: '{"e":1]' },
    { line: 5, text: '2' },
  ])
})

test.for(['[1,,2]', '[,1]', '[1,]'])('a missing value (%s) is reported as an invalid record', async (text) => {
  const records = await read([text])
  expect(records).toContainEqual({ line: 1, text: '' })
})

test.for([
  { text: '[1,2]\nmore', line: 2, rest: 'more' },
  { text: '[1,2]]', line: 1, rest: ']' },
  { text: '[1,2],3', line: 1, rest: ',3' },
  { text: '[1,2]\n\n[3]', line: 3, rest: '[3]' },
])('text after an array ($rest) is reported with its line', async ({ text, line, rest }) => {
  for (const chunks of [[text], [...text]]) {
    const records = await read(chunks)
    expect(valuesOf(records.slice(0, 2))).toEqual([1, 2])
    expect(records.slice(2)).toEqual([{ line, text: rest, fault: expect.stringContaining('after the end') }])
  }
})

test.for([
  { text: '[1,\n2', line: 2 },
  { text: '[1,\n2,\n', line: 3 },
  { text: '[1,\n"2, 3]', line: 2 },
  { text: '[1,\n[2]', line: 2 },
  { text: '[', line: 1 },
])('an array that breaks off ($text) is reported, with its line', async ({ text, line }) => {
  const records = await read([text])
  expect(records.at(-1)).toMatchObject({ line, fault: expect.stringContaining('ends here') })
  expect(records.slice(0, -1).every(({ fault }) => fault === undefined)).toBe(true)
})

test('JSON lines are read with their line numbers, however they are split', async () => {
  const end = fc.constantFrom('\n', '\r\n')
  const blankLines = fc.array(fc.constantFrom('\n', ' \n', '\t\r\n'), { maxLength: 3 })
  // If the first value were an array, the whole text would count as one array.
  const records = fc
    .array(fc.record({ blankLines, value: fc.jsonValue(), end }))
    .filter(([first]) => !Array.isArray(first?.value))
  await fc.assert(
    fc.asyncProperty(records, mark, fc.boolean(), places, async (lines, bom, isEnded, places) => {
      const texts = lines.map(({ blankLines, value, end }) => blankLines.join('') + JSON.stringify(value) + end)
      const text = bom + (isEnded ? texts.join('') : texts.join('').trimEnd())
      const records = await read(cut(text, places))
      expect(valuesOf(records)).toEqual(texts.map((text) => JSON.parse(text)))
      expect(linesOf(records)).toEqual(firstLines(texts))
    }),
    runs,
  )
})

test('an invalid line does not affect the other lines', async () => {
  expect(await read(['{"a":1}\n{"b":\n\n{"c":3}'])).toEqual([
    { line: 1, text: '{"a":1}' },
    { line: 2, text: '{"b":' },
    { line: 4, text: '{"c":3}' },
  ])
})

const limit = 4 * 1024 * 1024
const fitting = JSON.stringify('x'.repeat(limit - 2))
const long = JSON.stringify('x'.repeat(limit - 1))

test.for([
  { shape: 'JSON lines', wrap: (texts: readonly string[]) => texts.join('\n') },
  { shape: 'one JSON array', wrap: (texts: readonly string[]) => `[${texts.join(',\n')}]` },
])('in $shape, the long record is reported, and other records are read', async ({ wrap }) => {
  const text = wrap(['{"a":1}', long, fitting, '{"b":1}'])
  const records = await read(cut(text, [1000, 70_000, limit - 1, limit + 5, 2 * limit]))
  expect(linesOf(records)).toEqual([1, 2, 3, 4])
  expect(records.map(({ fault }) => fault)).toEqual([undefined, messages.record.tooLong, undefined, undefined])
  expect(records[2]?.text).toBe(fitting)
})

test('leading blanks do not count toward the length of a record', async () => {
  const blanks = '\n'.repeat(limit)
  expect(await read([blanks, `${blanks}[${blanks}`, '1', ',2]'])).toEqual([
    { line: 3 * limit + 1, text: '1' },
    { line: 3 * limit + 1, text: '2' },
  ])
})

test('an empty array, and an empty or blank input, have no records', async () => {
  for (const text of ['[]', ' [ ] ', '\n[\n]\n', '', ' ', '\n\r\n\t', '\uFEFF']) expect(await read([text])).toEqual([])
})

test('a reader that stops early releases its input', async () => {
  let isOpen = true
  async function* endless() {
    try {
      for (;;) yield '{}\n'
    } finally {
      isOpen = false
    }
  }
  for await (const _record of readRecords(endless())) break
  expect(isOpen).toBe(false)
})
