import { expect, test } from 'vitest'
import { findFiles, read } from '../rules.ts'

const files = findFiles().filter((file) => /^test\/acceptance\/.*\.test\.ts$/.test(file))

test('The title of an acceptance case has at most 80 characters', () => {
  const title = /(?:\b(?:test|it|describe|\w+WithAdmin)\(|\)\()\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1,/g
  const titles = files.flatMap((file) => [...read(file).matchAll(title)].map(([, , text = '']) => text))
  expect(titles.length).toBeGreaterThan(files.length)
  expect(titles.filter((text) => text.length > 80)).toEqual([])
})

test('A describe block of the acceptance suite has at most 120 lines', () => {
  const blocks = files.flatMap((file) => [...read(file).matchAll(/^describe[\s\S]*?^\}\)/gm)].map(([block]) => block))
  expect(blocks.length).toBeGreaterThan(files.length)
  expect(blocks.filter((block) => block.split('\n').length > 120)).toEqual([])
})
