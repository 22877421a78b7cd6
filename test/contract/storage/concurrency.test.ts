import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf } from '../../support/answer.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

describe('Two requests at once', () => {
  let storage: StorageUnderTest
  beforeAll(async () => {
    storage = await openStorage()
  })
  afterAll(() => storage.close())

  const rounds = Array.from({ length: 25 }, (_, index) => `/round-${index}`)
  const uploadPair = (folder: string, content: string) =>
    storage.post(
      folder,
      ['a', 'b'].map((name) => ({ name, content })),
    )
  const contentsOf = (...paths: string[]) => Promise.all(paths.map((path) => storage.textOf(path)))

  it('Two uploads of the same names leave the files of one of them (S-33)', async () => {
    for (const folder of rounds) {
      const answers = await Promise.all([uploadPair(folder, 'one'), uploadPair(folder, 'two')])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      const [a, b] = await contentsOf(`${folder}/a`, `${folder}/b`)
      expect(a).toBe(b)
      expect(['one', 'two']).toContain(a)
    }
  })

  it('After an upload and a removal of its folder at once, all its files exist or none', async () => {
    for (const [index, round] of rounds.entries()) {
      const folder = `${round}-delete`
      await uploadPair(folder, 'old')
      const upload = () => uploadPair(folder, 'new')
      const remove = () => storage.remove(folder)
      const both = index % 2 ? [upload(), remove()] : [remove(), upload()]
      for (const { status } of await Promise.all(both)) expect(status).toBe(200)
      expect([
        ['new', 'new'],
        [undefined, undefined],
      ]).toContainEqual(await contentsOf(`${folder}/a`, `${folder}/b`))
    }
  })

  it('An upload into a folder that is being renamed happens before or after the rename', async () => {
    for (const [index, round] of rounds.entries()) {
      const [from, to] = [`${round}-from`, `${round}-to`]
      await uploadPair(from, 'old')
      const both =
        index % 2
          ? [uploadPair(from, 'new'), storage.rename(from, to.slice(1))]
          : [storage.rename(from, to.slice(1)), uploadPair(from, 'new')]
      for (const { status } of await Promise.all(both)) expect(status).toBe(200)
      const before = ['new', 'new', undefined, undefined]
      const after = ['old', 'old', 'new', 'new']
      expect([before, after]).toContainEqual(await contentsOf(`${to}/a`, `${to}/b`, `${from}/a`, `${from}/b`))
    }
  })

  it('A rename to a name that is being uploaded is refused, or the upload replaces it', async () => {
    for (const round of rounds) {
      await storage.put(`${round}-r/source`, 'renamed')
      const [renamed, uploaded] = await Promise.all([
        storage.rename(`${round}-r/source`, 'target'),
        storage.put(`${round}-r/target`, 'uploaded'),
      ])
      expect(uploaded.status).toBe(200)
      expect(await storage.textOf(`${round}-r/target`)).toBe('uploaded')
      if (renamed.status !== 200) {
        expect(codeOf(renamed)).toBe(104022)
        expect(await storage.textOf(`${round}-r/source`)).toBe('renamed')
      }
    }
  })

  it('The two requests leave no staged bytes', async () => {
    expect(storage.leftovers()).toBe(0)
  })
})
