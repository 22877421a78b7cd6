import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { expectError } from '../support/expectations.ts'
import { put, read, remove, upload } from '../support/storage.ts'

const folder = `Templates/acceptance-${randomBytes(4).toString('hex')}`
const region = (name: string, content: string) =>
  `<!-- TemplateBeginEditable ${name} -->${content}<!-- TemplateEndEditable -->`

it.each([
  ['a region without a name (S-23, E-34)', region('', '{tag_pagecontent}'), 104006],
  ['two regions of one name (S-23, E-34)', region('name="a"', '{tag_pagecontent}') + region('name="a"', ''), 104006],
  ['the tag outside of its regions (S-24, E-35)', region('name="a"', 'x'), 104007],
  ['neither regions nor the tag (S-25, E-36)', '<html></html>', 104008],
])('A template with %s is refused (S-21, S-22)', async (_, content, code) => {
  for (const name of ['t.html', 't.htm', 't.dwt']) {
    expectError(await put(`${folder}/${name}`, content), 400, code)
    expectError(await upload(folder, [{ name, content }]), 400, code)
  }
  expectError(await read(folder, '?meta'), 404, 104001)
})

it('A template with the tag is stored, and so are files of other types (S-21, S-22)', async () => {
  expect((await put(`${folder}/ok.html`, region('name="a"', '{tag_pagecontent}'))).status).toBe(200)
  expect((await put(`${folder}/ok.css`, 'x')).status).toBe(200)
  expect((await remove(folder)).status).toBe(200)
  expect((await read(`${folder}/ok.html`)).status).toBe(404)
})
