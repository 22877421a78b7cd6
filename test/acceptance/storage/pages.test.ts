import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { admin, createSite, issueToken, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { ownSiteId } from '../support/forms.ts'
import { call } from '../support/http.ts'
import { at, namesIn, ownFolder, put, read, remove, rename, upload } from '../support/storage.ts'

const own = ownFolder()

const pageWithDraft = async (path: string) => {
  await put(path, 'live')
  await put(path, 'draft', '?version=draft')
}

describe('a draft', () => {
  it('stands beside the live page', async () => {
    await pageWithDraft(`${own}/a.html`)
    expect((await read(`${own}/a.html`)).text).toBe('live')
    expect((await read(`${own}/a.html`, '?version=draft')).text).toBe('draft')
    expect(await namesIn(own)).toContain('a.html')
  })

  it('is gone when the page is published', async () => {
    for (const query of ['', '?version=draft-publish']) {
      await pageWithDraft(`${own}/published.html`)
      await put(`${own}/published.html`, 'newer', query)
      expect((await read(`${own}/published.html`, '?version=draft')).text).toBe('newer')
    }
  })

  it('of a page without one is the live page, and of what is no page the file itself', async () => {
    await put(`${own}/plain.html`, 'live')
    expect((await read(`${own}/plain.html`, '?version=draft')).text).toBe('live')
    await put(`${own}/b.txt`, 'as a draft', '?version=draft')
    expect((await read(`${own}/b.txt`)).text).toBe('as a draft')
  })

  it('goes with version=draft, and the live page stays', async () => {
    await pageWithDraft(`${own}/c.html`)
    for (const _ of ['there is one', 'there is none']) {
      expect((await remove(`${own}/c.html`, '?version=draft')).status).toBe(200)
      expect((await read(`${own}/c.html`, '?version=draft')).text).toBe('live')
    }
  })

  it('is ignored on files that are no pages, and on folders', async () => {
    await put(`${own}/ignored/d.txt`, 'x')
    expect((await remove(`${own}/ignored/d.txt`, '?version=draft')).status).toBe(200)
    expect(await namesIn(`${own}/ignored`)).toEqual([])
    expect((await remove(`${own}/ignored`, '?version=draft')).status).toBe(200)
    expectError(await read(`${own}/ignored`, '?meta'), 404, 104001)
  })

  it('goes with its page', async () => {
    await pageWithDraft(`${own}/e.html`)
    await remove(`${own}/e.html`)
    expectError(await read(`${own}/e.html`, '?version=draft'), 404, 104001)
  })

  it('goes along when its page, or the folder that it is in, is renamed', async () => {
    await pageWithDraft(`${own}/old/f.html`)
    await rename(`${own}/old/f.html`, 'g.html')
    await rename(`${own}/old`, 'new')
    expect((await read(`${own}/new/g.html`, '?version=draft')).text).toBe('draft')
  })
})

describe('a draft without a live page', () => {
  it('becomes the file where it is renamed to what is no page (S-20, S-111)', async () => {
    await put(`${own}/only/h.html`, 'draft', '?version=draft')
    expect((await rename(`${own}/only/h.html`, 'h')).status).toBe(200)
    expect((await read(`${own}/only/h`)).text).toBe('draft')
    expectError(await read(`${own}/only/h.html`, '?version=draft'), 404, 104001)
  })

  it('lets no folder be created at its path or below it (S-112)', async () => {
    const page = `${own}/only/i.html`
    await put(page, 'draft', '?version=draft')
    expectError(await put(page, '', '?type=folder'), 400, 104022)
    expectError(await put(`${page}/new`, '', '?type=folder'), 400, 104009)
    expectError(await put(`${page}/new.txt`, 'x'), 400, 104009)
    expectError(await upload(page, [{ name: 'new.txt', content: 'x' }]), 400, 104019)
    expect((await read(page, '?version=draft')).text).toBe('draft')
    expect(await namesIn(`${own}/only`)).not.toContain('i.html/')
  })
})

describe('a page with a running workflow', () => {
  let site: string
  const folder = `${own}/workflow`
  beforeAll(async () => {
    site = String(await ownSiteId().catch(() => 0))
  })

  testWithAdmin('is neither changed (104012) nor deleted (104011), until the workflow ends', async () => {
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
    expect(await namesIn(folder)).toEqual(['page.html'])
    await admin('workflow', 'end', page, '--site', site)
    expect((await put(page, 'x')).status).toBe(200)
    expect((await remove(folder)).status).toBe(200)
  })
})

describe('a template', () => {
  const folder = `Templates/acceptance-${randomBytes(4).toString('hex')}`
  const region = (name: string, content: string) =>
    `<!-- TemplateBeginEditable ${name} -->${content}<!-- TemplateEndEditable -->`

  it.each([
    ['a region without a name', region('', '{tag_pagecontent}'), 104006],
    ['two regions of one name', region('name="a"', '{tag_pagecontent}') + region('name="a"', ''), 104006],
    ['regions, but the tag in none', region('name="a"', 'x'), 104007],
    ['neither regions nor the tag', '<html></html>', 104008],
  ])('with %s is refused', async (_, content, code) => {
    for (const name of ['t.html', 't.htm', 't.dwt']) {
      expectError(await put(`${folder}/${name}`, content), 400, code)
      expectError(await upload(folder, [{ name, content }]), 400, code)
    }
    expectError(await read(folder, '?meta'), 404, 104001)
  })

  it('is stored when it holds the tag, and so is anything beside it', async () => {
    expect((await put(`${folder}/ok.html`, region('name="a"', '{tag_pagecontent}'))).status).toBe(200)
    expect((await put(`${folder}/ok.css`, 'x')).status).toBe(200)
    expect((await remove(folder)).status).toBe(200)
    expect((await read(`${folder}/ok.html`)).status).toBe(404)
  })
})

describe('a rename below Templates', () => {
  it('that makes a template of a file checks it as an upload does: 400 / 104006, 104007, 104008', async () => {
    const folder = `Templates/acceptance-${randomBytes(4).toString('hex')}`
    const region = (name: string) => `<!-- TemplateBeginEditable ${name} --><!-- TemplateEndEditable -->`
    for (const [content, code] of [
      [region(''), 104006],
      [region('name="a"'), 104007],
      ['<html></html>', 104008],
    ] as const) {
      await put(`${folder}/a.txt`, content)
      for (const name of ['a.html', 'a.htm', 'a.dwt']) expectError(await rename(`${folder}/a.txt`, name), 400, code)
      expect(await namesIn(folder)).toEqual(['a.txt'])
    }
    await put(`${folder}/a.txt`, '{tag_pagecontent}')
    expect((await rename(`${folder}/a.txt`, 'a.html')).status).toBe(200)
    expect(await namesIn(folder)).toEqual(['a.html'])
    expect((await remove(folder)).status).toBe(200)
  })
})

describe('a folder whose name is that of a reserved one in another spelling (S-18)', () => {
  /** Calls to a new site, which has no reserved folder yet. */
  const onNewSite = async () => {
    const token = await issueToken([await createSite('Spelling')], '--permission', 'files')
    const headers = { 'Content-Type': 'application/octet-stream' }
    return {
      put: (path: string, body: string, query = '') => call(at(path, query), { method: 'PUT', token, headers, body }),
      read: (path: string, query = '') => call(at(path, query), { token }),
      remove: (path: string) => call(at(path), { method: 'DELETE', token }),
      change: (path: string, query: string, method: string, body: object) =>
        call(at(path, query), { method, token, body }),
    }
  }

  testWithAdmin.each(['templates', 'TEMPLATES', 'styleSHEETS', '_system'])(
    '%s is neither removed, renamed, moved nor restored, and keeps its name: 400 / 104020',
    async (folder) => {
      const site = await onNewSite()
      expect((await site.put(`${folder}/a.txt`, 'x')).status).toBe(200)
      expectError(await site.remove(folder), 400, 104020)
      expectError(await site.change(folder, '?meta', 'PUT', { name: 'x' }), 400, 104020)
      expectError(await site.change(folder, '?meta', 'PUT', { path: 'x/y' }), 400, 104020)
      expectError(await site.change(folder, '?restore', 'POST', {}), 400, 104020)
      expect((await site.read(folder, '?removal')).json).toMatchObject({ files: 1, code: 104020 })
      expect((await site.read('', '?meta')).json.contents).toMatchObject([{ name: folder }])
      expect((await site.remove(`${folder}/a.txt`)).status).toBe(200)
    },
  )

  testWithAdmin('holds templates, which are checked, and no pages (S-19, S-21): 400 / 104008', async () => {
    const site = await onNewSite()
    expectError(await site.put('templates/a.html', 'no tag'), 400, 104008)
    expect((await site.put('templates/a.txt', 'no tag')).status).toBe(200)
    expectError(await site.change('templates/a.txt', '?meta', 'PUT', { name: 'a.html' }), 400, 104008)
    expect((await site.put('templates/a.html', '{pagecontent} 1')).status).toBe(200)
    expect((await site.read('templates/a.html', '?meta')).json).not.toHaveProperty('draft')
    expect((await site.put('templates/a.html', '{pagecontent} 2', '?version=draft')).status).toBe(200)
    expect((await site.read('templates/a.html')).text).toBe('{pagecontent} 2')
  })
})
