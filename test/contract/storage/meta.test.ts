import { afterAll, describe, expect, it } from 'vitest'
import type { ObjectInfo } from '../../../lib/storage/object-store.ts'
import { codeOf } from '../../support/answer.ts'
import { putObject } from '../../support/objects.ts'
import { fillFolder, openStorage } from './service.ts'

/** Computes the fingerprint of a file whose name begins with `unknown`. */
let fingerprintOf = async (_: ObjectInfo, _remaining: number): Promise<string | null> => null

const withoutFingerprint = <Info extends ObjectInfo | undefined>(info: Info): Info =>
  info?.key.includes('unknown') ? { ...info, fingerprint: null } : info

const storage = await openStorage({
  closes: afterAll,
  between: ({ files }) => ({
    files: {
      ...files,
      find: async (key) => withoutFingerprint(await files.find(key)),
      fingerprintOf: (info, deadline) => fingerprintOf(info, deadline.timeLeft()),
    },
  }),
})

const meta = (path: string, query: Record<string, string> = {}, method = 'GET') =>
  storage.call(method, path, { query: { meta: '', ...query }, remaining: 20_000 })

it('The request waits for a fingerprint as long as the request has time (S-84)', async () => {
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

describe('?meta of a folder', () => {
  /** Stores a file without the object of its folder. */
  const putAlone = (path: string) => putObject(storage.deps.files, `live/${storage.site}/${path}`)

  it('A folder without its own object has no time (S-75)', async () => {
    await putAlone('by-others/a.txt')
    expect((await meta('/by-others')).json).toMatchObject({ lastModified: null, contents: [{ name: 'a.txt' }] })
    expect((await meta('/by-others', { recursive: 'true' })).json).toMatchObject({
      lastModified: null,
      contents: [{ path: 'a.txt' }],
    })
  })

  it('A page after the last entry is empty (S-78)', async () => {
    for (const name of ['a', 'b']) await putAlone(`ended/${name}`)
    const { cursor } = (await meta('/ended', { limit: '1' })).json
    await storage.remove('/ended/b')
    expect((await meta('/ended', { cursor })).json).toMatchObject({ type: 'folder', contents: [] })
  })

  it('A removed folder answers 404/104001, even to a request with a cursor', async () => {
    await fillFolder(storage, '/going', 3)
    const { cursor } = (await meta('/going', { limit: '2' })).json
    await storage.remove('/going')
    for (const query of [{}, { cursor }, { recursive: 'true' }]) {
      expect(codeOf(await meta('/going', query))).toBe(104001)
    }
  })
})
