import { expect } from 'vitest'
import { createEditor } from '../../../console/files/editor.ts'
import { test as base } from '../../client/support/site.ts'

/** Stores a file on the site, and opens it in an editor. */
const test = base.extend('edit', async ({ client, folder, site }) => async (content: string | Uint8Array) => {
  await site.put('a.recipe', content, { replace: true, contentType: 'text/x-recipe' })
  const editor = createEditor(client, `${folder}/a.recipe`)
  await editor.open()
  return editor
})

test('a file that someone else has removed can be saved again (K-44)', async ({ edit, site }) => {
  const editor = await edit('one')
  editor.text.value = 'mine'
  await site.remove('a.recipe')
  expect([await editor.save(), editor.theirs.value?.etag]).toEqual([false, undefined])
  expect([await editor.save(), await site.texts()]).toEqual([true, { 'a.recipe': 'mine' }])
  expect((await site.stat('a.recipe')).contentType).toBe('text/x-recipe')
})

test('a save whose answer was lost succeeds when it is repeated (K-44)', async ({ edit, site }) => {
  const editor = await edit('one')
  editor.text.value = 'mine'
  await site.put('a.recipe', 'mine', { replace: true })
  expect([await editor.save(), editor.theirs.value, editor.isChanged.value]).toEqual([true, undefined, false])
})

test('line ends and the byte order mark of a text stay the same (K-44)', async ({ client, edit, folder }) => {
  const editor = await edit('\uFEFFone\r\ntwo\r\n')
  editor.text.value = `${editor.text.value}three\n`
  expect(editor.text.value).toBe('\uFEFFone\ntwo\nthree\n')
  await editor.save()
  const bytes = await (await client.files.read(`${folder}/a.recipe`)).arrayBuffer()
  expect(Buffer.from(bytes).toString()).toBe('\uFEFFone\r\ntwo\r\nthree\r\n')
})

test('the editor refuses files that mix line ends or are not text (K-44)', async ({ edit }) => {
  for (const mixed of ['a\r\nb\nc', 'a\rb']) {
    expect((await edit(mixed)).base.value).toMatchObject({ lineEnd: undefined })
  }
  for (const other of [Uint8Array.of(0, 255), 'a'.repeat(1_000_001)]) {
    expect((await edit(other)).base.value).toMatchObject({ text: undefined })
  }
})
