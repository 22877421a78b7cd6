import { expect, test, vi } from 'vitest'
import { print } from '../../../admin/output.ts'

const printed = (value: object, json: boolean): string => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  print(value, json)
  const [text = ''] = log.mock.lastCall ?? []
  log.mockRestore()
  return String(text)
}

test('a long list is cut for people, and whole for programs', () => {
  const names = Array.from({ length: 100 }, (_, index) => `${index}.txt`)
  expect(printed([{ names: names.slice(0, 10) }], false)).toContain('8.txt, 9.txt')
  expect(printed([{ names }], false)).toMatch(/9\.txt, and 90 more$/)
  expect(JSON.parse(printed([{ names }], true))).toEqual([{ names }])
})
