import { beforeEach, describe, expect, it, vi } from 'vitest'
import { parsePath } from '../../../lib/storage/path.ts'
import { type Answer, codeOf, statusAndCode } from '../../support/answer.ts'
import { entry } from '../../support/history.ts'
import { recorded } from '../../support/objects.ts'
import { type Ask, acts } from './acts.ts'
import { storageHands } from './hands.ts'
import { type Interruption, interruptChanges } from './interruption.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

let storage: StorageUnderTest
/** Another caller acts after the checks, and before the changes are made. */
let others: Interruption

const openForEach = (open: (typeof storageHands)[number]['open']) =>
  beforeEach(async () => {
    storage = await open()
    others = interruptChanges(storage.deps.files)
    for (const path of ['/f/a', '/f/b', '/to/x']) await storage.put(path, path.at(-1))
  })

describe.each(storageHands)('Changes and removals on $name', ({ open }) => {
  openForEach(open)

  it('A path is taken if a folder exists there only because of its contents (S-136)', async () => {
    const { deps, site } = storage
    const below = { kind: 'folder', key: `live/${site}/outer/inner/` } as const
    await recorded(deps.files.place([below], { absent: [], unlocked: { site, folders: [] } }, entry))
    const create = (headers: Readonly<Record<string, string>>) => storage.put('/outer', '', { type: 'folder' }, headers)
    expect(codeOf(await create({ 'If-None-Match': '*' }))).toBe(100412)
    expect((await create({ 'If-Match': '*' })).status).toBe(200)
  })

  it.each(['/f/a', '/f'])('The removal of %s also removes a file that is replaced meanwhile (S-103)', async (path) => {
    others.once(() => storage.put('/f/a', 'newer'))
    expect((await storage.remove(path)).status).toBe(200)
    expect(await storage.read('/f/a')).toBe(404)
    const { json } = await storage.get('/f/a', { versions: '' })
    expect(json.versions.map(({ removed }: { readonly removed: boolean }) => removed)).toEqual([true, false])
  })

  it.each([[], ['newer draft']])(
    'The removal of a draft also removes a page that is stored meanwhile (S-103)',
    async (...drafts: readonly string[]) => {
      const path = '/f/page.html'
      const putDraft = (text: string) => storage.put(path, text, { version: 'draft' })
      await putDraft('draft')
      others.once(async () => {
        await storage.put(path, 'page')
        for (const draft of drafts) await putDraft(draft)
      })
      expect((await storage.remove(path)).status).toBe(200)
      expect(await storage.read(path)).toBe(404)
      expect(await storage.read(path, { version: 'draft' })).toBe(404)
    },
  )

  it('The history ends with the removal of a page that is stored meanwhile (S-103)', async () => {
    const path = '/f/page.html'
    const putDraft = (text: string) => storage.put(path, text, { version: 'draft' })
    await storage.put(path, 'page')
    await putDraft('draft')
    const { files } = storage.deps
    const { remove } = files
    vi.spyOn(files, 'remove').mockImplementationOnce(async (...given) => {
      await putDraft('newer draft')
      const removal = await remove(...given)
      await storage.put(path, 'again')
      return removal
    })
    expect((await storage.remove(path)).status).toBe(200)
    expect(await storage.read(path)).toBe(404)
    const entries = await storage.stores.history.before(storage.site, undefined, 3)
    expect(entries.map(({ type }) => type)).toEqual(['file.removed', 'file.stored', 'file.removed'])
  })

  it('The removal of a file that is replaced each time answers 503, and the file stays', async () => {
    let number = 0
    others.always(() => storage.put('/f/a', String(number++)))
    expect(codeOf(await storage.remove('/f/a'))).toBe(100503)
    expect(await storage.read('/f/a')).toBe(String(number - 1))
  })

  // The beginning of an upload does not place a file yet. A file of the folder can still be removed.
  const changes = Object.entries(acts).flatMap(([operation, some]) =>
    Object.entries(some).flatMap(([how, act]) =>
      act.level === 'write' && !act.isOnRoot && operation !== 'deletePath' ? [[operation, how, act] as const] : [],
    ),
  )
  it.each(changes)('If the removal of a folder begins meanwhile, %s %s changes no file (S-46)', async (_, __, act) => {
    const { target = 'secret.txt', prepare, question } = act
    const ask: Ask = ({ method, path, ...request }) => storage.callSite(method, path, request)
    await storage.put('/f/secret.txt')
    const prepared = (await prepare?.({ ask, folder: 'f' })) as never
    const before = await storage.keys()
    const begin = vi.fn(() => storage.deps.removals.open(storage.site, parsePath('f'), 'meanwhile', entry))
    others.once(begin)
    const path = target === '' ? 'f' : `f/${target}`
    const answer = await ask(question(`/${path}`, path, prepared))
    if (begin.mock.calls.length > 0) expect(statusAndCode(answer)).toEqual([400, 104010])
    expect(await storage.keys()).toEqual(before)
    expect(storage.leftovers()).toBe(0)
  })
})

// On S3, such a file stays (docs/durability.md).
describe('A file that is stored in a folder meanwhile, on one machine', () => {
  openForEach(openStorage)

  const files = [
    ['/f/new', {}],
    ['/f/page.html', { version: 'draft' }],
  ] as const
  const store = async (path: string, query: Readonly<Record<string, string>>) =>
    expect((await storage.put(path, 'new', query)).status).toBe(200)
  const keysOf = async (folder: string) => (await storage.keys()).filter((key) => key.includes(`/1001/${folder}`))

  it.each(files)('A rename of the folder takes %s %j along (S-41, S-112)', async (path, query) => {
    others.once(() => store(path, query))
    expect((await storage.rename('/f', 'n')).status).toBe(200)
    expect(await keysOf('f')).toEqual([])
    expect(await storage.read(path.replace('/f/', '/n/'), query)).toBe('new')
  })

  it.each(files)('The removal of the folder removes %s %j, too (S-91)', async (path, query) => {
    others.once(() => store(path, query))
    expect((await storage.remove('/f')).status).toBe(200)
    expect(await keysOf('f')).toEqual([])
    const [{ type, details } = {}] = await storage.stores.history.before(storage.site, undefined, 1)
    expect([type, details]).toEqual(['folder.removed', { count: 4 }])
  })

  it.each(files)('A removal with force=false refuses a folder with %s %j (S-97)', async (path, query) => {
    for (const name of ['a', 'b']) await storage.remove(`/f/${name}`)
    others.once(() => store(path, query))
    expect(statusAndCode(await storage.remove('/f', { query: { force: 'false' } }))).toEqual([403, 104024])
    expect(await keysOf('f/')).toHaveLength(2)
  })

  it('If files come without end, the request answers 503 and changes nothing', async () => {
    let number = 0
    others.always(() => store(`/f/${number++}`, {}))
    expect(codeOf(await storage.remove('/f'))).toBe(100503)
    expect(codeOf(await storage.rename('/f', 'n'))).toBe(100503)
    expect(await keysOf('f/')).toHaveLength(3 + number)
    expect(await keysOf('n')).toEqual([])
  })
})

const relocations = storageHands.flatMap((hand) => ['move', 'copy'].map((kind) => ({ ...hand, kind })))
describe.each(relocations)('A $kind on $name', ({ kind, open }) => {
  openForEach(open)

  const run = async (from: string, path: string) => {
    const answer = await storage.relocate(from, { [kind === 'copy' ? 'copyTo' : 'path']: path })
    return codeOf(answer) ?? answer.status
  }

  it('Files that are added or changed during the request are included', async () => {
    others.once(async () => {
      await storage.put('/f/a', 'newer')
      await storage.put('/f/c', 'c')
    })
    expect(await run('/f', '/to/f')).toBe(200)
    const relocated = await Promise.all(['a', 'b', 'c'].map((name) => storage.read(`/to/f/${name}`)))
    expect(relocated).toEqual(['newer', 'b', 'c'])
    expect(await storage.read('/f/a')).toBe(kind === 'copy' ? 'newer' : 404)
  })

  it('If the source is deleted meanwhile, the request answers 404/104001', async () => {
    others.once(() => storage.remove('/f/a'))
    expect(await run('/f/a', '/to/a')).toBe(104001)
    expect(await storage.read('/to/a')).toBe(404)
  })

  it('If the new path is used meanwhile, the request answers 104022', async () => {
    const pairs = ['/f/a', '/f'].flatMap((path) => ['/to/new', '/to/new/below'].map((first) => ({ path, first })))
    for (const { path, first } of pairs) {
      others.once(() => storage.put(first, 'first'))
      expect(await run(path, '/to/new')).toBe(104022)
      expect(await storage.read(first)).toBe('first')
      await storage.remove('/to/new')
    }
    expect([await storage.read('/f/a'), await storage.read('/f/b')]).toEqual(['a', 'b'])
  })

  it('Folders that are deleted meanwhile are created again', async () => {
    others.once(() => storage.remove('/to'))
    expect(await run('/f', '/to/deep/f')).toBe(200)
    expect(await storage.read('/to/deep/f/a')).toBe('a')
    expect(await storage.keys()).toEqual(expect.arrayContaining(['live/1001/to/', 'live/1001/to/deep/']))
  })

  it('If a folder of the new path becomes a file meanwhile, the request answers 104009', async () => {
    others.once(() => storage.put('/to/deep', 'file'))
    expect(await run('/f', '/to/deep/f')).toBe(104009)
    expect([await storage.read('/to/deep'), await storage.read('/f/a')]).toEqual(['file', 'a'])
  })

  it('If the source keeps changing, the request answers 503 and changes nothing', async () => {
    let number = 0
    others.always(() => storage.put('/f/a', String(number++)))
    expect(await run('/f', '/to/f')).toBe(100503)
    expect(await storage.read('/f/b')).toBe('b')
    expect((await storage.keys()).filter((key) => key.startsWith('live/1001/to/f'))).toEqual([])
  })
})

describe.each(storageHands)('A change with a condition on $name', ({ open }) => {
  openForEach(open)

  const path = '/folder/page.html'
  type Fields = Readonly<Record<string, string>>
  const put = (body: string, headers?: Fields) => storage.put(path, body, {}, headers)
  const changes: readonly (readonly [string, string | number, (headers: Fields) => Promise<Answer>])[] = [
    ['PUT', 'mine', (headers) => put('mine', headers)],
    ['POST', 'mine', (headers) => storage.post('/folder', [{ name: 'page.html', content: 'mine' }], { headers })],
    ['DELETE', 404, (headers) => storage.remove(path, { headers })],
    ['rename', 404, (headers) => storage.rename(path, 'other.html', { headers })],
  ]

  it.each(changes)('%s succeeds if its condition is true for the newer file, too (S-64)', async (_, left, ask) => {
    for (const headers of [{ 'If-Match': '*' }, { 'If-None-Match': '"x"' }]) {
      await put('old')
      await storage.remove('/folder/other.html')
      others.once(() => put('theirs'))
      expect((await ask(headers)).status).toBe(200)
      expect(await storage.read(path)).toBe(left)
    }
  })

  it.each(changes)('%s answers 412 if the condition is no longer true (S-64)', async (_, __, ask) => {
    await put('old')
    const headers = { 'If-Match': await storage.tagOf(path) }
    others.once(() => put('theirs'))
    expect(statusAndCode(await ask(headers))).toEqual([412, 100412])
    expect(await storage.read(path)).toBe('theirs')
    expect(storage.leftovers()).toBe(0)
  })

  it('The removal of a page also removes a draft that is stored meanwhile (S-103)', async () => {
    await put('old')
    others.once(() => storage.put(path, 'theirs', { version: 'draft' }))
    expect((await storage.remove(path, { headers: { 'If-Match': '*' } })).status).toBe(200)
    expect(await storage.read(path, { version: 'draft' })).toBe(404)
  })

  it('A write of a draft is refused if page or draft changed meanwhile (S-61)', async () => {
    for (const query of [undefined, { version: 'draft' }]) {
      await put('old')
      const ifMatch = { 'If-Match': await storage.tagOf(path) }
      others.once(() => storage.put(path, 'theirs', query))
      expect(statusAndCode(await storage.put(path, 'mine', { version: 'draft' }, ifMatch))).toEqual([412, 100412])
      expect(await storage.read(path, { version: 'draft' })).toBe('theirs')
    }
  })
})
