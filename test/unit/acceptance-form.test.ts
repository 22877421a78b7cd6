import { expect, test } from 'vitest'
import { findFiles, read } from '../rules.ts'

const all = findFiles()
const tests = all.filter((file) => file.endsWith('.test.ts'))

test('The title of a test has at most 80 characters', () => {
  const title = /(?:\b(?:test|it|describe|\w+WithAdmin|base)\(|\)\()\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1,/g
  const titles = tests.flatMap((file) => [...read(file).matchAll(title)].map(([, , text = '']) => text))
  expect(titles.length).toBeGreaterThan(tests.length)
  expect(titles.filter((text) => text.length > 80)).toEqual([])
})

test('A describe block has at most 120 lines', () => {
  const blocks = tests.flatMap((file) =>
    [...read(file).matchAll(/^describe[\s\S]*?^\}\)/gm)].map(([block]) => ({ file, lines: block.split('\n').length })),
  )
  expect(blocks.length).toBeGreaterThan(0)
  expect(blocks.filter(({ lines }) => lines > 120)).toEqual([])
})

test('A sentence of the source is compared in one test or in messages.ts', () => {
  const source = all.filter((file) => /^(functions|lib|local|server|admin|cdk|client\/src)\/.*\.ts$/.test(file))
  const words = source.map(read).join('\n')
  const sentence =
    /(?:toContain|toMatch|toThrow|toBe|string\w+ing)\(\s*(['"`/])\^?((?:(?!\1)[\w ,:"'.-])*(?:[a-z]+ ){3}[a-z]+)/g
  const compared = tests.flatMap((file) => [...read(file).matchAll(sentence)].map(([, , text = '']) => text))
  const ofSource = compared.filter((text) => words.includes(text))
  expect(ofSource.filter((text, index) => ofSource.indexOf(text) !== index)).toEqual([])
})
