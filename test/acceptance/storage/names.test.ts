import { expect, it } from 'vitest'
import type { Answer } from '../../support/answer.ts'
import { namesIn, ownFolder, put, read, remove, rename, store, upload } from '../support/storage.ts'

const own = ownFolder()

/** Names in ten scripts, and other legal names (S-13). */
const names = [
  ...['Привет.txt', 'Καλημέρα', 'שלום.html', 'مرحبا', 'नमस्ते.txt', 'สวัสดี', '你好.txt', 'こんにちは', '안녕하세요.txt'],
  ...['გამარჯობა', 'ሰላም', 'Ñandú é ü.txt', '😀👩‍👩‍👧‍👦', 'a&b', '100%', '%41', '%2e%2e', '%252F', 'a+b', '#1', 'what?'],
  ...['"quoted"', "it's", '<tag>', 'a;b=c', ' leading and trailing ', '\u3000ideographic\u3000', '...', '.hidden'],
  ...['trailing.', 'a:b|c*d', 'con', '~', '\u202egnp.exe', '\ufeffbegins with a byte order mark'],
  'x'.repeat(255),
  '長'.repeat(85),
]

/** In small groups: an emulator starts a process for each concurrent request. */
const all = async <Result>(run: (name: string) => Promise<Result>): Promise<readonly Result[]> => {
  const results: Result[] = []
  for (let at = 0; at < names.length; at += 9) {
    results.push(...(await Promise.all(names.slice(at, at + 9).map(run))))
  }
  return results
}
const statuses = async (run: (name: string) => Promise<Answer>) => new Set((await all(run)).map(({ status }) => status))

it('Files are stored, read, renamed and deleted by names in every script (S-13)', async () => {
  const folder = `${own}/files`
  expect(await statuses((name) => put(`${folder}/${name}`, name))).toEqual(new Set([200]))
  expect(new Set(await namesIn(folder))).toEqual(new Set(names))
  expect((await all((name) => read(`${folder}/${name}`))).map(({ text }) => text)).toEqual(names)
  const other = (name: string) => `other-${names.indexOf(name)}`
  expect(await statuses((name) => rename(`${folder}/${name}`, other(name)))).toEqual(new Set([200]))
  expect(await statuses((name) => rename(`${folder}/${other(name)}`, name))).toEqual(new Set([200]))
  expect(new Set(await namesIn(folder))).toEqual(new Set(names))
  expect(await statuses((name) => remove(`${folder}/${name}`))).toEqual(new Set([200]))
  expect(await namesIn(folder)).toEqual([])
})

it('Folders can have names in every script (S-13)', async () => {
  const folder = `${own}/folders`
  await all((name) => put(`${folder}/${name}/a`, 'a'))
  expect(new Set(await namesIn(folder))).toEqual(new Set(names.map((name) => `${name}/`)))
  expect(new Set((await all((name) => namesIn(`${folder}/${name}`))).flat())).toEqual(new Set(['a']))
  expect(await statuses((name) => remove(`${folder}/${name}`))).toEqual(new Set([200]))
})

it('A file name in a multipart body is stored unchanged (S-13)', async () => {
  // In a form, a quotation mark ends the name, and the name starts after the last slash or backslash.
  const plain = names.filter((name) => !/["\\/]/.test(name))
  const files = plain.map((name) => ({ name }))
  expect((await upload(`${own}/parts`, files)).status).toBe(200)
  expect(new Set(await namesIn(`${own}/parts`))).toEqual(new Set(plain))
})

it('Both Unicode normal forms of a name mean the same file (S-1)', async () => {
  await store(`${own}/forms/e\u0301`, 'decomposed')
  await store(`${own}/forms/\u00e9`, 'composed')
  expect(await namesIn(`${own}/forms`)).toEqual(['\u00e9'])
  expect((await read(`${own}/forms/e\u0301`)).text).toBe('composed')
})
