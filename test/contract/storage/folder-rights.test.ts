import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, codeOf, statusAndCode } from '../../support/answer.ts'
import { storageHands } from './hands.ts'
import type { Requests, StorageUnderTest } from './service.ts'

// Rights on folders, on both stores. least-privilege.test.ts has every operation.

const namesIn = ({ json }: Answer): string[] => json.contents.map(({ name }: { name: string }) => name)
const tus = { 'Tus-Resumable': '1.0.0' }

describe.each(storageHands)('A right on a folder, on $name', ({ open }) => {
  let storage: StorageUnderTest
  beforeAll(async () => {
    storage = await open()
  })
  afterAll(() => storage.close())

  /** A new folder for each case. */
  const newTop = () => `top-${randomUUID()}`
  const expectRefused = (answer: Answer) => expect(statusAndCode(answer)).toEqual([400, 104003])

  it('Every path outside gets the same refusal, whether it exists or not (A-44)', async () => {
    const top = newTop()
    const author = await storage.as(`files:write:/${top}/news`)
    await storage.put(`/${top}/private/secret.txt`)
    const asked: readonly ((path: string) => Promise<Answer>)[] = [
      (path) => author.get(path),
      ...['meta', 'link', 'versions', 'deleted', 'removal'].map(
        (name) => (path: string) => author.get(path, { [name]: '' }),
      ),
      (path) => author.put(path),
      (path) => author.makeFolder(path),
      (path) => author.post(path, [{ name: 'a.txt' }]),
      (path) => author.remove(path),
      (path) => author.restore(path),
      (path) => author.rename(path, 'b'),
      (path) => author.relocate(path, { copyTo: `${top}/news/copy` }),
    ]
    for (const ask of asked) {
      const messages = new Set<string>()
      for (const path of ['private/secret.txt', 'private/nothing.t', 'PRIVATE/secret.txt', 'private']) {
        const answer = await ask(`/${top}/${path}`)
        expectRefused(answer)
        messages.add(answer.json.message.replace(/:\/\S+ /, ' '))
      }
      expect(messages.size).toBe(1)
      const dots = codeOf(await ask(`/${top}/news/../private/secret.txt`))
      expect([104015, 104009]).toContain(dots)
      expect([104015, 104009]).toContain(codeOf(await ask(`/${top}/news/%2e%2e/private/secret.txt`)))
    }
    for (const target of [`${top}/private/secret.txt`, `${top}/private/nothing.txt`, `/${top}/x`, 'x']) {
      await author.put(`/${top}/news/a.txt`)
      expectRefused(await author.relocate(`/${top}/news/a.txt`, { path: target }))
      expectRefused(await author.relocate(`/${top}/news/a.txt`, { copyTo: target }))
    }
  })

  it('The folder itself cannot be removed, renamed or moved (A-46)', async () => {
    const top = newTop()
    const author = await storage.as(`files:write:/${top}/news`)
    await storage.put(`/${top}/news/a.txt`)
    const news = `/${top}/news`
    expectRefused(await author.remove(news))
    expectRefused(await author.rename(news, 'other'))
    expectRefused(await author.relocate(news, { path: `${top}/news/inside` }))
    expect((await author.get(news, { removal: '' })).json).toMatchObject({ files: 1, code: 104003 })
    expect(await author.read(`${news}/a.txt`)).toBe(`${news}/a.txt`)
    expect((await author.get(`${news}/a.txt`, { removal: '' })).json).not.toHaveProperty('code')
    expect((await author.rename(`${news}/a.txt`, 'b.txt')).status).toBe(200)
    expect((await author.remove(`${news}/b.txt`)).status).toBe(200)
    const reader = await storage.as(`files:read:/${top}`)
    await storage.put(`${news}/c.txt`)
    expect((await reader.get(`${news}/c.txt`, { removal: '' })).json).toMatchObject({ files: 1, code: 104003 })
  })

  it('Lookups without case search only inside the folder (A-42, S-4, S-5)', async () => {
    const top = newTop()
    const author = await storage.as(`files:write:/${top}/news`)
    await storage.put(`/${top}/news/Deep/Page.TXT`, 'inside')
    expect(await author.read(`/${top}/news/deep/page.txt`)).toBe('inside')
    expect((await author.get(`/${top}/news/DEEP`, { meta: '' })).json.name).toBe('Deep')
    expectRefused(await author.get(`/${top}/NEWS/Deep/Page.TXT`))
    expect((await author.remove(`/${top}/news/deep/Page.TXT`)).status).toBe(200)

    const other = newTop()
    const lower = await storage.as(`files:write:/${other}/news`)
    await storage.put(`/${other}/News/a.txt`, 'outside')
    await storage.put(`/${other}/README`, 'outside')
    const named = await storage.as(`files:read:/${other}/readme`)
    expect(await named.read(`/${other}/readme`)).toBe(404)
    for (const path of ['news/a.txt', 'news']) {
      expect((await lower.get(`/${other}/${path}`, { meta: '' })).status).toBe(404)
    }
    for (const answer of [
      await lower.get(`/${other}/news/a.txt`),
      await lower.remove(`/${other}/news/a.txt`),
      await lower.rename(`/${other}/news/a.txt`, 'b.txt'),
      await lower.relocate(`/${other}/news/a.txt`, { copyTo: `${other}/news/b.txt` }),
    ]) {
      expect(statusAndCode(answer)).toEqual([404, 104001])
    }
    expect((await lower.put(`/${other}/news/a.txt`, 'own')).status).toBe(200)
    expect((await lower.post(`/${other}/news/sub`, [{ name: 'b.txt' }])).status).toBe(200)
    expect((await lower.relocate(`/${other}/news/a.txt`, { path: `${other}/news/up/c.txt` })).status).toBe(200)
    expect(namesIn(await storage.get(`/${other}/News`, { meta: '' }))).toEqual(['a.txt'])
  })

  it('A wider right to read does not widen the lookups of a change (A-42)', async () => {
    const top = newTop()
    const author = await storage.as('files:read', `files:write:/${top}/news`)
    await storage.put(`/${top}/News/a.txt`, 'outside')
    expect(await author.read(`/${top}/news/A.TXT`)).toBe('outside')
    expect((await author.remove(`/${top}/news/a.txt`)).status).toBe(404)
    expect((await author.rename(`/${top}/news/a.txt`, 'b.txt')).status).toBe(404)
    expect((await author.relocate(`/${top}/News/a.txt`, { copyTo: `${top}/news/b.txt` })).status).toBe(200)
    expect(namesIn(await storage.get(`/${top}`, { meta: '' }))).toEqual(['News', 'news'])
  })

  it('Parent folders show only the entries that lead to the folder (A-43)', async () => {
    const top = newTop()
    await storage.put(`/${top}/a/b/own/x.txt`)
    await storage.put(`/${top}/a/secret.txt`)
    await storage.put(`/${top}/c/x.txt`)
    const author = await storage.as(`files:read:/${top}/a/b/own`, `files:write:/${top}/c`, `files:read:/${top}/gone`)
    const metaOf = async (path: string, query = {}) => author.get(path, { meta: '', ...query })
    expect(namesIn(await metaOf(''))).toEqual([top])
    const { json } = await metaOf(`/${top}`)
    expect(json).toMatchObject({ name: top, type: 'folder', size: 0, lastModified: null })
    expect(json.contents).toMatchObject([
      { name: 'a', type: 'folder', size: 0, lastModified: null },
      { name: 'c', type: 'folder', size: 0, lastModified: null },
    ])
    expect(namesIn(await metaOf(`/${top}/a`))).toEqual(['b'])
    expect(namesIn(await metaOf(`/${top}/a/b/own`))).toEqual(['x.txt'])
    const first = await metaOf(`/${top}`, { limit: '1' })
    expect(namesIn(first)).toEqual(['a'])
    const second = await metaOf(`/${top}`, { limit: '1', cursor: first.json.cursor })
    expect([namesIn(second), second.json.cursor]).toEqual([['c'], undefined])
    const behindFile = await storage.as(`files:read:/${top}/a/secret.txt/own`)
    expect((await behindFile.get(`/${top}/a/secret.txt`, { meta: '' })).status).toBe(404)
    const nowhere = await storage.as(`files:read:/${top}/none/own`)
    expect((await nowhere.get(`/${top}`, { meta: '' })).status).toBe(404)
    expect(namesIn(await nowhere.get('', { meta: '' }))).toEqual([top])
    for (const query of [{}, { deleted: '' }, { versions: '' }, { removal: '' }]) {
      expectRefused(await author.get(`/${top}/a`, query))
    }
  })

  it('Recursive lists contain only the folders of the right, on every page (A-45)', async () => {
    const top = newTop()
    const own = ['a/own/1', 'a/own/2', 'b/x/3', 'b.d/4']
    for (const path of [...own, 'a/owner', 'a/p', 'b/y', 'c']) await storage.put(`/${top}/${path}`)
    await storage.makeFolder(`/${top}/empty`)
    const rights = ['a/own', 'b/x', 'b.d', 'b/x/deeper', 'empty', 'missing'].map((path) => `files:read:/${top}/${path}`)
    const author = await storage.as(...rights)
    for (const limit of ['1', '2', '3', '1000']) {
      const seen: string[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const answer: Answer = await author.get(`/${top}`, {
          meta: '',
          recursive: 'true',
          limit,
          ...(cursor && { cursor }),
        })
        expect(answer.status).toBe(200)
        seen.push(...answer.json.contents.map(({ path }: { path: string }) => path))
        cursor = answer.json.cursor
      }
      expect(seen).toEqual(['a/own/1', 'a/own/2', 'b.d/4', 'b/x/3'])
    }
    const ofRoot = await author.get('', { meta: '', recursive: 'true' })
    expect(ofRoot.json.contents).toHaveLength(own.length)
    expectRefused(await author.get(`/${top}/c`, { meta: '', recursive: 'true' }))
  })

  it('The history has moves only if the right covers both paths (A-47)', async () => {
    const top = newTop()
    await storage.put(`/${top}/in/a.txt`)
    await storage.put(`/${top}/out/b.txt`)
    await storage.relocate(`/${top}/in/a.txt`, { path: `${top}/in/c.txt` })
    await storage.relocate(`/${top}/in/c.txt`, { path: `${top}/out/c.txt` })
    await storage.relocate(`/${top}/out/b.txt`, { copyTo: `${top}/in/b.txt` })
    await storage.post(`/${top}/in`, [{ name: 'd.txt' }])
    await storage.post(`/${top}`, [{ name: 'in' }, { name: 'e.txt' }])
    const changesFor = async ({ callSite }: Requests, query = {}) => {
      const answer = await callSite('GET', '/changes', { query: { after: '', limit: '500', ...query } })
      const subjects = answer.json.items.filter(({ subject }: { subject: string }) => subject.startsWith(top))
      return subjects.map(({ type, subject }: Record<string, string>) => `${type} ${subject?.slice(top.length)}`)
    }
    const author = await storage.as(`files:write:/${top}/in`, 'history:read')
    const expected = ['file.stored /in/a.txt', 'file.moved /in/a.txt', 'file.stored /in']
    expect(await changesFor(author)).toEqual(expected)
    const none = await storage.as('forms:read', 'history:read')
    expect(await changesFor(none)).toEqual([])
    expectRefused(await (await storage.as('files:write')).callSite('GET', '/changes'))
  })

  it('Without the right, an append is refused and the upload stays (U-11, U-15)', async () => {
    const top = newTop()
    const before = await storage.as(`files:write:/${top}`)
    const metadata = `filename ${Buffer.from('a.txt').toString('base64')}`
    const creation = { ...tus, 'Upload-Length': '4', 'Upload-Metadata': metadata }
    const { headers } = await before.call('POST', `/${top}`, { headers: creation })
    const upload = headers['location']?.replace(/^.*(?=\/uploads\/)/, '') ?? ''
    const append = ({ callSite }: Requests, offset: number, body: string) =>
      callSite('PATCH', upload, {
        headers: { ...tus, 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' },
        body,
      })
    expect((await append(before, 0, 'ab')).status).toBe(204)
    const after = await storage.as(`files:write:/${top}-other`, `files:read:/${top}`)
    expectRefused(await append(after, 2, 'cd'))
    for (const method of ['HEAD', 'DELETE']) expectRefused(await after.callSite(method, upload, { headers: tus }))
    expect((await storage.get(`/${top}/a.txt`)).status).toBe(404)
    expect((await append(before, 2, 'cd')).status).toBe(204)
    expect(await storage.read(`/${top}/a.txt`)).toBe('abcd')
  })
})
