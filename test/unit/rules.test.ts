import { expect, test } from 'vitest'
import { errors } from '../../lib/core/errors.ts'
import {
  findFiles,
  findFreeIds,
  findTests,
  findUncited,
  read,
  readBuiltRules,
  readCitations,
  readRules,
} from '../rules.ts'

test('every rule has its own id', () => {
  const rules = readRules()
  expect(rules.length).toBeGreaterThan(0)
  expect(rules.filter((id, index) => rules.indexOf(id) !== index)).toEqual([])
})

test('every id that source, tests or documentation cite is a rule', () => {
  const rules = new Set(readRules())
  const unknown = findFiles()
    .flatMap((file) => readCitations(read(file)).map((id) => [file, id] as const))
    .filter(([, id]) => !rules.has(id))
  expect(unknown).toEqual([])
})

test('a citation is inside parentheses or before a colon', () => {
  const cited = readCitations('Renames a file (S-51, S-53), and S-54: one segment (F-3; 404/115001)')
  expect(cited).toEqual(['S-51', 'S-53', 'S-54', 'F-3'])
  expect(readCitations('UTF-8: SHA-256 (SHA-256), S-3, part-A-1: x, S-3:4')).toEqual([])
})

test('the code of every error has a row in section E', () => {
  const codes = new Set([...read('docs/rules.md').matchAll(/^\| \*\*E-\d+\*\* \| (\d+) \|/gm)].map(([, code]) => code))
  expect(Object.entries(errors).filter(([, { code }]) => !codes.has(`${code}`))).toEqual([])
})

test('the next free id follows the largest id of its section', () => {
  expect(findFreeIds(['A-2', 'A-10', 'A-9', 'S-3'])).toEqual(['A-11', 'S-4'])
})

test('rules that no test cites are listed', () => {
  const texts = ["test('S-2: a run of slashes')", '// S-3 without its form']
  expect(findUncited(['S-1', 'S-2', 'S-3'], texts)).toEqual(['S-1', 'S-3'])
})

test('a rule in a section that is not built yet needs no test', () => {
  const page = '## A\n\n- **A-1** x\n\n### B\n\nNot built yet.\n\n- **A-2** y\n\n### C\n\n| **A-3** | z |\n'
  expect(readBuiltRules(page)).toEqual(['A-1', 'A-3'])
})

test('a test cites every built rule', () => {
  expect(findUncited(readBuiltRules(), findTests().map(read))).toEqual([])
})

test('no file cites the pages that docs/rules.md has replaced', () => {
  const replaced = /\bdecisions\.md\b|(?<![/']|\]\()\bapi\.md\b/
  expect(findFiles().filter((file) => replaced.test(read(file)))).toEqual([])
})
