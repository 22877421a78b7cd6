import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { storage } from '../../support/paths.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { copy, move, namesIn, ownFolder, read, relocate, remove, rename, store } from '../support/storage.ts'

const own = ownFolder()

const contentOf = async (path: string, query = ''): Promise<string | undefined> => {
  const { status, text } = await read(path, query)
  return status === 200 ? text : undefined
}

it('A renamed file has the media type of its name; other members are ignored (S-51)', async () => {
  await store(`${own}/rename/a.txt`, 'x')
  const answer = await relocate(`${own}/rename/a.txt`, { title: 'x', name: 'b.css' })
  expect(answer).toMatchObject({ status: 200, json: { status: 'success' } })
  expect(await namesIn(`${own}/rename`)).toEqual(['b.css'])
  const { headers } = await call(`${storage}/${own}/rename/b.css`, { headers: { Accept: 'text/css' } })
  expect(headers['content-type']).toBe('text/css')
})

it('A rename or move of the root answers 400/104014 (S-109)', async () => {
  for (const body of [{ name: 'x' }, { path: 'x' }, { copyTo: 'x' }]) {
    expectError(await call(`${storage}?meta`, { method: 'PUT', body }), 400, 104014)
  }
})

it('The new name must be one legal segment (S-54, S-12, E-42, E-49)', async () => {
  await store(`${own}/name/a`, 'x')
  expectError(await rename(`${own}/name/a`, 'b/c'), 400, 104015)
  expectError(await rename(`${own}/name/a`, '..'), 400, 104015)
  expectError(await rename(`${own}/name/a`, 'x'.repeat(256)), 400, 104028)
  expectError(await rename(`${own}/name/a`, ''), 400, 104014)
  const body = { title: 'x' }
  expectError(await call(`${storage}/${own}/name/a?meta`, { method: 'PUT', body }), 400, 104000)
})

describe.each([
  ['move', move],
  ['copy', copy],
] as const)('A %s', (kind, to) => {
  const folder = `${own}/${kind}`
  /** The content of the file at the old path. */
  const left = (content: string) => (kind === 'copy' ? content : undefined)

  it('A file is stored at its new path, and missing folders are created (S-51, S-52)', async () => {
    await store(`${folder}/file/a.txt`, 'text')
    expect((await to(`${folder}/file/a.txt`, `/${folder}/new/deep/b.css`)).status).toBe(200)
    expect(await contentOf(`${folder}/new/deep/b.css`)).toBe('text')
    expect(await contentOf(`${folder}/file/a.txt`)).toBe(left('text'))
    expect(await namesIn(`${folder}/new`)).toEqual(['deep/'])
  })

  it('A folder is moved or copied to its new path, with all contents and types (S-51)', async () => {
    const names = ['a', 'b/c.css', 'b/d/e']
    for (const name of names) await store(`${folder}/all/${name}`, name)
    expect((await to(`${folder}/all`, `${folder}/elsewhere/all`)).status).toBe(200)
    for (const name of names) {
      expect(await contentOf(`${folder}/elsewhere/all/${name}`)).toBe(name)
      expect(await contentOf(`${folder}/all/${name}`)).toBe(left(name))
    }
    expect((await read(`${folder}/elsewhere/all/b/c.css`, '?meta')).json.contentType).toBe('text/css')
  })

  it('The new path is not percent-decoded, and may begin with a slash (S-52)', async () => {
    for (const [index, name] of ['100%25 + é', '%2e%2e', 'a?b#c&d', '😀', ' blank '].entries()) {
      await store(`${folder}/source`, name)
      expect((await to(`${folder}/source`, `${index % 2 ? '/' : ''}${folder}/plain/${name}`)).status).toBe(200)
      expect(await contentOf(`${folder}/plain/${name}`)).toBe(name)
    }
    for (const [path, found] of [
      [`//${folder}//runs//a/`, 'runs/a'],
      [`${folder}/runs/e\u0301`, 'runs/\u00e9'],
    ] as const) {
      await store(`${folder}/source`, path)
      expect((await to(`${folder}/source`, path)).status).toBe(200)
      expect(await contentOf(`${folder}/${found}`)).toBe(path)
    }
  })

  it('A new path that is in use is refused with 400/104022 (S-53, E-46)', async () => {
    for (const name of ['a', 'b', 'c/x']) await store(`${folder}/taken/${name}`, name)
    expectError(await to(`${folder}/taken/a`, `${folder}/taken/b`), 400, 104022)
    expectError(await to(`${folder}/taken/a`, `${folder}/taken/c`), 400, 104022)
    expectError(await to(`${folder}/taken/c`, `${folder}/taken/a`), 400, 104022)
    await store(`${folder}/taken/draft.html`, 'draft', '?version=draft')
    expectError(await to(`${folder}/taken/a`, `${folder}/taken/draft.html`), 400, 104022)
    expect([await contentOf(`${folder}/taken/a`), await contentOf(`${folder}/taken/b`)]).toEqual(['a', 'b'])
  })

  it('A missing source, and a new path below a file, are refused (S-53, E-37)', async () => {
    expectError(await to(`${folder}/missing`, `${folder}/anywhere`), 404, 104001)
    for (const name of ['a', 'f/b', 'leaf']) await store(`${folder}/ancestor/${name}`, name)
    for (const source of ['a', 'f']) {
      expectError(await to(`${folder}/ancestor/${source}`, `${folder}/ancestor/leaf/x`), 400, 104009)
    }
  })

  it('A new path inside the source is refused with 400/104015 (S-57)', async () => {
    await store(`${folder}/self/a`, 'a')
    for (const below of ['self', 'x/y']) expectError(await to(`${folder}/self`, `${folder}/self/${below}`), 400, 104015)
    expectError(await to(`${folder}/self/a`, `${folder}/self/a/b`), 400, 104015)
    expect(await namesIn(`${folder}/self`)).toEqual(['a'])
    expect((await to(`${folder}/self`, `${folder}/selfish`)).status).toBe(200)
  })

  const illegal: readonly (readonly [path: string, code: number])[] = [
    ['..', 104015],
    ['a/../../b', 104015],
    ['a\\b', 104015],
    ['a\u0000', 104015],
    [`${'x'.repeat(200)}/`.repeat(5), 104015],
    ['x'.repeat(256), 104028],
    ['\ud800', 104015],
    ['', 104014],
    ['///', 104014],
  ]
  it.each(illegal.map(([path, code]) => ({ start: JSON.stringify(path).slice(0, 50), path, code })))(
    'The new path $start is refused with 400/$code (S-10, S-11, S-12)',
    async ({ path, code }) => {
      await store(`${folder}/illegal/a`, 'a')
      expectError(await to(`${folder}/illegal/a`, path), 400, code)
      expect(await contentOf(`${folder}/illegal/a`)).toBe('a')
    },
  )

  it('A file that becomes a template is checked (S-26)', async () => {
    const templates = `Templates/acceptance-${randomBytes(4).toString('hex')}`
    await store(`${folder}/pages/a.html`, 'no tag')
    const refused = await to(`${folder}/pages`, templates)
    expectError(refused, 400, 104008)
    expect(refused.json.message).toContain(`${templates}/a.html`)
    expectError(await to(`${folder}/pages/a.html`, `${templates}/a.html`), 400, 104008)
    expectError(await read(templates, '?meta'), 404, 104001)
    await store(`${folder}/pages/a.html`, '{tag_pagecontent}')
    expect((await to(`${folder}/pages`, templates)).status).toBe(200)
    expect(await contentOf(`${templates}/a.html`)).toBe('{tag_pagecontent}')
    expect((await remove(templates)).status).toBe(200)
  })
})

it('A move of a page also moves its draft (S-56)', async () => {
  await store(`${own}/draft/a.html`, 'live')
  await store(`${own}/draft/a.html`, 'draft', '?version=draft')
  await move(`${own}/draft/a.html`, `${own}/drafts/b.html`)
  await move(`${own}/drafts`, `${own}/moved/drafts`)
  expect(await contentOf(`${own}/moved/drafts/b.html`)).toBe('live')
  expect(await contentOf(`${own}/moved/drafts/b.html`, '?version=draft')).toBe('draft')
})

it('A move keeps a draft only if the new path can have one (S-56, S-111)', async () => {
  const template = '{tag_pagecontent}'
  const templates = `Templates/${own}`
  for (const path of ['a.html', 'f/b.html']) {
    await store(`${own}/pages/${path}`, template)
    await store(`${own}/pages/${path}`, 'draft', '?version=draft')
  }
  await store(`${own}/pages/f/only.html`, 'no template', '?version=draft')
  expect((await move(`${own}/pages/a.html`, `${own}/pages/a.txt`)).status).toBe(200)
  expectError(await read(`${own}/pages/a.html`, '?version=draft'), 404, 104001)
  expectError(await move(`${own}/pages/f`, templates), 400, 104008)
  await store(`${own}/pages/f/only.html`, template, '?version=draft')
  expect((await move(`${own}/pages/f`, templates)).status).toBe(200)
  for (const name of ['b', 'only']) expect(await contentOf(`${templates}/${name}.html`)).toBe(template)
  expect((await move(templates, `${own}/pages/back`)).status).toBe(200)
  for (const name of ['b', 'only']) {
    expect(await contentOf(`${own}/pages/back/${name}.html`, '?version=draft')).toBe(template)
  }
})

it('A rename or move to the same path answers 200, and a copy 104022 (S-57)', async () => {
  await store(`${own}/onto/a`, 'a')
  expect((await rename(`${own}/onto/a`, 'a')).status).toBe(200)
  for (const path of [`${own}/onto/a`, `${own}/onto`]) {
    expect((await move(path, `/${path}`)).status).toBe(200)
    expectError(await copy(path, path), 400, 104022)
  }
  expect(await contentOf(`${own}/onto/a`)).toBe('a')
})

it('A reserved folder can be copied, but its move answers 400/104020 (S-55, E-45)', async () => {
  await store(`StyleSheets/${own}/a.css`, 'a')
  expectError(await move('StyleSheets', `${own}/styles`), 400, 104020)
  expect((await copy('StyleSheets', `${own}/copied-styles`)).status).toBe(200)
  expect(await contentOf(`${own}/copied-styles/${own}/a.css`)).toBe('a')
  expect((await move(`StyleSheets/${own}`, `${own}/styles`)).status).toBe(200)
  expect(await contentOf(`${own}/styles/a.css`)).toBe('a')
})

it('A copy contains only live files, and is independent of the source (S-58)', async () => {
  await store(`${own}/live/a.html`, 'live')
  await store(`${own}/live/a.html`, 'draft', '?version=draft')
  await store(`${own}/live/only.html`, 'draft', '?version=draft')
  expect((await copy(`${own}/live`, `${own}/copied`)).status).toBe(200)
  expect(await contentOf(`${own}/copied/a.html`, '?version=draft')).toBe('live')
  expect(await contentOf(`${own}/copied/only.html`, '?version=draft')).toBeUndefined()
  expectError(await copy(`${own}/live/only.html`, `${own}/only.html`), 404, 104001)
  await store(`${own}/live/a.html`, 'newer')
  expect(await contentOf(`${own}/copied/a.html`)).toBe('live')
  await remove(`${own}/copied`)
  expect(await contentOf(`${own}/live/a.html`)).toBe('newer')
})

it.each([
  [{}],
  [{ title: 'x' }],
  [{ name: 'b', path: 'b' }],
  [{ path: 'b', copyTo: 'c' }],
  [{ name: 'b', path: 'b', copyTo: 'b' }],
  [{ name: 'b', copyTo: null }],
  [{ path: 5 }],
  [{ copyTo: ['b'] }],
  [[]],
])('A rename, move or copy with the body %j is refused with 104000 (S-51)', async (body) => {
  await store(`${own}/place/a`, 'a')
  expectError(await relocate(`${own}/place/a`, body), 400, 104000)
  expect(await namesIn(`${own}/place`)).toEqual(['a'])
})
