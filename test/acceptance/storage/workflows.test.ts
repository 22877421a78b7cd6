import { expect } from 'vitest'
import { admin, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { ownSiteId } from '../support/forms.ts'
import {
  copy,
  duringWorkflow,
  move,
  namesIn,
  ownFolder,
  purge,
  put,
  read,
  remove,
  rename,
  restore,
  store,
  upload,
} from '../support/storage.ts'

const own = ownFolder()

testWithAdmin('A page with a workflow cannot be changed (S-45, S-56, S-101, E-39, E-40, T-15)', async () => {
  const folder = `${own}/changed`
  const page = `${folder}/page.html`
  const site = String(await ownSiteId())
  await store(page, 'live')
  expect(await admin('workflow', 'start', page, '--site', site)).toEqual({ path: page, workflow: 'running' })
  expectError(await put(page, 'x'), 400, 104012)
  expectError(await put(page, 'x', '?version=draft'), 400, 104012)
  expectError(await upload(folder, [{ name: 'other' }, { name: 'page.html' }]), 400, 104012)
  expectError(await rename(page, 'b.html'), 400, 104012)
  expectError(await rename(folder, 'b'), 400, 104012)
  expectError(await remove(page), 400, 104011)
  expectError(await remove(folder), 400, 104011)
  for (const path of [page, folder]) {
    expect((await read(path, '?removal')).json).toMatchObject({ files: 1, code: 104011 })
  }
  expect(await namesIn(folder)).toEqual(['page.html'])
  await admin('workflow', 'end', page, '--site', site)
  expect((await put(page, 'x')).status).toBe(200)
  expect((await remove(folder)).status).toBe(200)
})

testWithAdmin('A page with a workflow can be copied, but not moved (S-56, S-58)', async () => {
  const folder = `${own}/moved`
  const page = `${folder}/page.html`
  await store(page, 'live')
  await store(`${own}/other.html`, 'other')
  await duringWorkflow(page, async () => {
    for (const path of [page, folder]) expectError(await move(path, `${own}/flown`), 400, 104012)
    expectError(await move(`${own}/other.html`, page), 400, 104022)
    expect((await copy(folder, `${own}/copied`)).status).toBe(200)
    expect((await put(`${own}/copied/page.html`, 'changed')).status).toBe(200)
  })
  expect((await move(folder, `${own}/flown`)).status).toBe(200)
})

testWithAdmin('A path with a workflow takes no move, copy or restore (S-56, S-58, H-28, T-15)', async () => {
  const folder = `${own}/target`
  const page = `${folder}/page.html`
  for (const path of [page, `${own}/source/page.html`]) await store(path, 'live')
  await remove(folder)
  await duringWorkflow(page, async () => {
    expectError(await restore(page), 400, 104012)
    for (const to of [move, copy]) {
      expectError(await to(`${own}/source/page.html`, page), 400, 104012)
      expectError(await to(`${own}/source`, folder), 400, 104012)
    }
  })
})

testWithAdmin('A purge of a page with a running workflow answers 104011 (H-32)', async () => {
  const page = `${own}/purged.html`
  for (const text of ['1', '22']) await store(page, text)
  await duringWorkflow(page, async () => expectError(await purge(page), 400, 104011))
  expect((await purge(page)).status).toBe(200)
})

testWithAdmin('A reserved folder with a workflow is refused because it is reserved (S-55, S-96)', async () => {
  const page = `StyleSheets/${own}/page.html`
  await store(page, 'x')
  await duringWorkflow(page, async () => {
    expectError(await remove('StyleSheets'), 400, 104020)
    expectError(await move('StyleSheets', `${own}/styles`), 400, 104020)
  })
  expect((await remove(`StyleSheets/${own}`)).status).toBe(200)
})
