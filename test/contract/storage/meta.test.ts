import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectInfo } from '../../../lib/storage/object-store.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { codeOf, statusAndCode } from '../../support/answer.ts'
import { entry } from '../../support/history.ts'
import { putObject } from '../../support/objects.ts'
import { fillFolder, openStorage, type StorageUnderTest } from './service.ts'

let storage: StorageUnderTest
/** What is asked for the fingerprint of a file whose name begins with `unknown`. */
let fingerprintOf = async (_: ObjectInfo, _remaining: number): Promise<string | null> => null

const withoutFingerprint = <Info extends ObjectInfo | undefined>(info: Info): Info =>
  info?.key.includes('unknown') ? { ...info, fingerprint: null } : info

beforeAll(async () => {
  storage = await openStorage({
    between: ({ files }) => ({
      files: {
        ...files,
        find: async (key) => withoutFingerprint(await files.find(key)),
        fingerprintOf: (info, deadline) => fingerprintOf(info, deadline.timeLeft()),
      },
    }),
  })
})
afterAll(() => storage.close())

const meta = (path: string, query: Record<string, string> = {}, method = 'GET') =>
  storage.call(method, path, { query: { meta: '', ...query }, remaining: 20_000 })

describe('?meta of a file', () => {
  it('waits for a fingerprint that is being made, for as long as the request has', async () => {
    await storage.put('/unknown.bin', 'x')
    const asked: [string, number][] = []
    fingerprintOf = async ({ key }, remaining) => {
      asked.push([key, remaining])
      return 'made'
    }
    expect((await meta('/unknown.bin')).json.fingerprint).toBe('made')
    expect(asked).toEqual([[`live/${storage.site}/unknown.bin`, 20_000]])
    fingerprintOf = async () => null
    expect((await meta('/unknown.bin')).json.fingerprint).toBeNull()
  })

  it('answers HEAD with the same headers and no body', async () => {
    await storage.put('/head.txt', 'x')
    const { status, text, json } = await meta('/head.txt', {}, 'HEAD')
    expect({ status, name: text === '' || json.name }).toEqual({ status: 200, name: 'head.txt' })
  })

  it('takes limit and cursor for nothing', async () => {
    await storage.put('/switches.txt', 'x')
    expect((await meta('/switches.txt', { limit: '1', cursor: 'eA' })).status).toBe(200)
  })

  it('which is a page with a draft alone is 404 / 104001', async () => {
    await storage.put('/only.html', 'x', { version: 'draft' })
    const answer = await meta('/only.html')
    expect(statusAndCode(answer)).toEqual([404, 104001])
  })
})

describe('?meta of a folder', () => {
  /** Puts a file into the store, and no folder around it. */
  const putAlone = (path: string) => putObject(storage.deps.files, `live/${storage.site}/${path}`)

  it('that nobody has created by itself has no time', async () => {
    await putAlone('by-others/a.txt')
    expect((await meta('/by-others')).json).toMatchObject({ lastModified: null, contents: [{ name: 'a.txt' }] })
    expect((await meta('/by-others', { recursive: 'true' })).json).toMatchObject({
      lastModified: null,
      contents: [{ path: 'a.txt' }],
    })
  })

  it('that is called like a page is a folder', async () => {
    await storage.makeFolder('/named.html')
    const { json } = await meta('/named.html')
    expect(json).toMatchObject({ type: 'folder', contents: [] })
    expect(json).not.toHaveProperty('draft')
  })

  it('is there for a cursor that has come to its end', async () => {
    for (const name of ['a', 'b']) await putAlone(`ended/${name}`)
    const { cursor } = (await meta('/ended', { limit: '1' })).json
    await storage.remove('/ended/b')
    expect((await meta('/ended', { cursor })).json).toMatchObject({ type: 'folder', contents: [] })
  })

  it('a folder that has gone meanwhile is 404 / 104001, with a cursor and without', async () => {
    await fillFolder(storage, '/going', 3)
    const { cursor } = (await meta('/going', { limit: '2' })).json
    await storage.remove('/going')
    for (const query of [{}, { cursor }, { recursive: 'true' }]) {
      expect(codeOf(await meta('/going', query))).toBe(104001)
    }
  })

  it('tells of a running workflow of a page below it nothing', async () => {
    await storage.put('/flow/page.html', 'x')
    await storage.deps.workflows.start(storage.site, toStoragePath('flow/page.html'), entry)
    expect((await meta('/flow')).json).not.toHaveProperty('workflow')
    expect((await meta('/flow/page.html')).json.workflow).toBe('running')
  })
})
