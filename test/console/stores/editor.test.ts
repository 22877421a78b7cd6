import { expect, test } from 'vitest'
import { type PutOptions, ServiceError } from '../../../client/src/index.ts'
import { createEditor } from '../../../console/files/editor.ts'
import { siteOf } from '../support/site.ts'

/** A site with one file, whose tag is the number of its saves. */
const siteWith = (given: string | Uint8Array<ArrayBuffer> | undefined) => {
  let content = given
  let saves = 1
  const etagNow = () => (content === undefined ? undefined : `"${saves}"`)
  const missing = () => new ServiceError({ status: 404, code: 104001, message: 'Missing.' })
  const write = (next: string | undefined) => {
    content = next
    saves++
  }
  const client = siteOf({
    stat: async (path) => {
      if (content === undefined) throw missing()
      return { name: path, type: 'file', size: 1, lastModified: null, links: [], etag: etagNow() ?? '' }
    },
    read: async () => new Response(content),
    put: async (_, text, { replace }: PutOptions = {}) => {
      if (replace !== etagNow()) throw new ServiceError({ status: 412, code: 100412, message: 'Changed.' })
      write(String(text))
    },
  })
  return { client, write, now: () => content }
}

const opened = async (given: Parameters<typeof siteWith>[0]) => {
  const site = siteWith(given)
  const editor = createEditor(site.client, 'a.txt')
  await editor.open()
  return { ...site, editor }
}

test('a file that someone else has removed can be saved again (K-44)', async () => {
  const { editor, write, now } = await opened('one')
  editor.text.value = 'mine'
  write(undefined)
  expect([await editor.save(), editor.theirs.value?.etag]).toEqual([false, undefined])
  expect([await editor.save(), now()]).toEqual([true, 'mine'])
})

test('line ends and the byte order mark of a text stay the same (K-44)', async () => {
  const { editor, now } = await opened('\uFEFFone\r\ntwo\r\n')
  editor.text.value = `${editor.text.value}three\n`
  expect(editor.text.value).toBe('\uFEFFone\ntwo\nthree\n')
  await editor.save()
  expect(now()).toBe('\uFEFFone\r\ntwo\r\nthree\r\n')
})

test('the editor refuses files that mix line ends or are not text (K-44)', async () => {
  expect((await opened('a\r\nb\nc')).editor.base.value).toMatchObject({ lineEnd: undefined })
  expect((await opened('a\rb')).editor.base.value).toMatchObject({ lineEnd: undefined })
  expect((await opened(Uint8Array.of(0, 255))).editor.base.value).toMatchObject({ text: undefined })
  expect((await opened('a'.repeat(1_000_001))).editor.base.value).toMatchObject({ text: undefined })
})
