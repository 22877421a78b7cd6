import { beforeAll, describe, expect } from 'vitest'
import { admin, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { ownSiteId } from '../support/forms.ts'
import { copy, move, namesIn, ownFolder, put, read, remove, rename, restore, upload } from '../support/storage.ts'

const own = ownFolder()

describe('A page with a running workflow', () => {
  let site: string
  const folder = `${own}/workflow`
  beforeAll(async () => {
    site = String(await ownSiteId().catch(() => 0))
  })

  testWithAdmin('A page with a workflow cannot be changed (S-45, S-56, S-101, E-39, E-40, T-15)', async () => {
    const page = `${folder}/page.html`
    await put(page, 'live')
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
})

describe('Moves, copies and restores during a workflow', () => {
  let site: string
  beforeAll(async () => {
    site = String(await ownSiteId().catch(() => 0))
  })

  testWithAdmin('A running workflow refuses moves, copies and restores (S-56, S-58, H-28)', async () => {
    const folder = `${own}/workflow`
    const page = `${folder}/page.html`
    await put(page, 'live')
    await put(`${own}/other.html`, 'other')
    await admin('workflow', 'start', page, '--site', site)
    for (const path of [page, folder]) expectError(await move(path, `${own}/flown`), 400, 104012)
    expectError(await move(`${own}/other.html`, page), 400, 104022)
    expect((await copy(folder, `${own}/workflow-copy`)).status).toBe(200)
    expect((await put(`${own}/workflow-copy/page.html`, 'changed')).status).toBe(200)
    await admin('workflow', 'end', page, '--site', site)
    expect((await move(folder, `${own}/flown`)).status).toBe(200)
    await admin('workflow', 'start', page, '--site', site)
    expectError(await restore(page), 400, 104012)
    for (const to of [move, copy]) {
      expectError(await to(`${own}/other.html`, page), 400, 104012)
      expectError(await to(`${own}/flown`, folder), 400, 104012)
    }
    await admin('workflow', 'end', page, '--site', site)
  })

  testWithAdmin('A reserved folder with a workflow is refused because it is reserved (S-55, S-96)', async () => {
    const page = `StyleSheets/${own}/page.html`
    await put(page, 'x')
    await admin('workflow', 'start', page, '--site', site)
    expectError(await remove('StyleSheets'), 400, 104020)
    expectError(await move('StyleSheets', `${own}/styles`), 400, 104020)
    await admin('workflow', 'end', page, '--site', site)
    expect((await remove(`StyleSheets/${own}`)).status).toBe(200)
  })
})
