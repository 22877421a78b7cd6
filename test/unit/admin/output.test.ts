import { expect, test } from 'vitest'
import { textOf } from '../../../admin/terminal/output.ts'

test('a long list is shortened for people, and complete with --json', () => {
  const names = Array.from({ length: 100 }, (_, index) => `${index}.txt`)
  expect(textOf([{ names: names.slice(0, 10) }], false)).toContain('8.txt, 9.txt')
  expect(textOf([{ names }], false)).toMatch(/9\.txt, and 90 more$/)
  expect(JSON.parse(textOf([{ names }], true))).toEqual([{ names }])
})

test('each value of a table stands below the name of its member', () => {
  const rows = [
    { id: 1, name: 'One' },
    { quota: 5, name: 'Two', id: 2 },
    { id: 3, role: 'owner' },
  ]
  const lines = ['id  name  quota  role', '1   One', '2   Two   5', '3                owner']
  expect(textOf(rows, false)).toBe(lines.join('\n'))
})

test('a table may have more rows than a function can have arguments', () => {
  const rows = Array.from({ length: 200_000 }, (_, index) => ({ id: index + 1, subject: 'News' }))
  expect(textOf(rows, false)).toMatch(/^id {6}subject\n1 {7}News\n[\s\S]+\n200000 {2}News$/)
})

test('characters that steer a terminal are escaped, also with --json', () => {
  const [name, names] = ['a\u009b2J\u202eb', (json: boolean) => textOf([{ name }], json)]
  expect([names(false), names(true)]).toEqual(['name\na\\u{9b}2J\\u{202e}b', '[{"name":"a\\u009b2J\\u202eb"}]'])
})
