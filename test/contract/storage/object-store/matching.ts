import { expect, it } from 'vitest'
import type { Change, Expected, PlaceOutcome } from '../../../../lib/storage/object-store.ts'
import { kilobyte, megabyte, type Workbench } from './workbench.ts'

const rounds = 10

/** Changes that expect the versions that their caller saw. */
export const describeMatching = (bench: Workbench, isLarge: boolean): void => {
  const { fresh, stage, put, content, keysUnder } = bench

  const seen = async (key: string): Promise<Expected> => ({ key, version: (await bench.store.find(key))?.version })
  const putOf = async (key: string, text: string | Buffer, staged = stage(key, text)): Promise<Change> => ({
    kind: 'put',
    key,
    staged: await staged,
  })
  const release = async (changes: readonly Change[]) => {
    for (const change of changes) if (change.kind === 'put') await change.staged.discard()
  }

  const large = Buffer.alloc(isLarge ? 8 * megabyte + 1 : 40 * kilobyte, 'x')
  const writes: readonly (readonly [string, (key: string) => Promise<Change>])[] = [
    ['a few bytes', (key) => putOf(key, 'mine')],
    ['many bytes', (key) => putOf(key, large)],
    ['many bytes whose key was not known', (key) => putOf(key, large, stage(undefined, large))],
    ['a removal', async (key) => ({ kind: 'remove', key })],
  ]

  it.each(writes)('Only the version that the caller saw is replaced: %s (S-64)', async (_, changeOf) => {
    const key = `${fresh()}a`
    await put(key, 'old')
    const old = await seen(key)
    await put(key, 'newer')
    const change = await changeOf(key)
    expect(await bench.place([change], { matching: [old] })).toEqual({ outcome: 'changed', key })
    expect(await content(key)).toBe('newer')
    expect(await bench.place([change], { matching: [await seen(key)] })).toEqual({ outcome: 'placed' })
    expect(await content(key)).not.toBe('newer')
  })

  it.each(writes.slice(0, 3))('If a caller saw no file, only a free key is filled: %s (S-64)', async (_, changeOf) => {
    const key = `${fresh()}a`
    const nothing = { key, version: undefined }
    const first = await changeOf(key)
    expect(await bench.place([first], { matching: [nothing] })).toEqual({ outcome: 'placed' })
    const before = await seen(key)
    const second = await changeOf(key)
    expect(await bench.place([second], { matching: [nothing] })).toEqual({ outcome: 'changed', key })
    await release([second])
    expect(await seen(key)).toEqual(before)
  })

  it('If one of several objects has changed, no change is made (S-64)', async () => {
    const prefix = fresh()
    for (const name of ['a', 'b']) await put(`${prefix}${name}`, 'old')
    const old = await Promise.all(['a', 'b'].map((name) => seen(`${prefix}${name}`)))
    await put(`${prefix}b`, 'newer')
    const key = `${prefix}b`
    for (const names of [['a', 'b'], ['a'], ['c']]) {
      const changes = [
        ...(await Promise.all(names.map((name) => putOf(`${prefix}${name}`, 'mine')))),
        { kind: 'folder', key: `${prefix}folder/` } as const,
      ]
      expect(await bench.place(changes, { matching: old })).toEqual({ outcome: 'changed', key })
      await release(changes)
    }
    expect(await keysUnder(prefix)).toEqual([`${prefix}a`, `${prefix}b`])
    expect([await content(`${prefix}a`), await content(key)]).toEqual(['old', 'newer'])
  })

  /** Places changes that expect the same state, all at once. Returns the index of the change that was placed. */
  const race = async (all: readonly (readonly Change[])[], matching: readonly Expected[]): Promise<number> => {
    const results = await Promise.all(all.map((changes) => bench.place(changes, { matching })))
    for (const [index, changes] of all.entries()) if (results[index]?.outcome !== 'placed') await release(changes)
    const outcomes = results.map(({ outcome }: PlaceOutcome) => outcome)
    const [loser] = outcomes.filter((outcome) => outcome !== 'placed')
    // A store may answer `stale` instead of `changed`, because it checks the source of a move first.
    expect(['changed', 'stale']).toContain(loser)
    expect(outcomes).toContain('placed')
    return outcomes.indexOf('placed')
  }

  it('Only one of two changes that replace or create the same object succeeds', async ({ skip }) => {
    bench.requires('comparesWrites', skip)
    for (let round = 0; round < rounds; round++) {
      const key = `${fresh()}a`
      for (const [expected, texts] of [
        [{ key, version: undefined }, ['one', 'two']],
        [undefined, ['three', 'four']],
      ] as const) {
        const changes = await Promise.all(texts.map(async (text) => [await putOf(key, text)]))
        const winner = await race(changes, [expected ?? (await seen(key))])
        expect(await content(key)).toBe(texts[winner])
      }
    }
  })

  it('If a replacement and a removal of an object come at once, one of them succeeds', async ({ skip }) => {
    bench.requires('comparesWrites', skip)
    for (let round = 0; round < rounds; round++) {
      const prefix = fresh()
      const key = `${prefix}a`
      await put(key, 'old')
      const old = await seen(key)
      const from = { key, version: old.version ?? '', size: 3 }
      const rivals: Change[] = round % 2 ? [{ kind: 'remove', key }] : [{ kind: 'move', from, key: `${prefix}b` }]
      const winner = await race([rivals, [await putOf(key, 'new')]], [old])
      expect(await content(key)).toBe(winner === 1 ? 'new' : undefined)
      expect(await keysUnder(prefix)).toHaveLength(winner === 0 && round % 2 ? 0 : 1)
    }
  })

  it('Only one of two changes that create the same objects and folder succeeds', async ({ skip }) => {
    bench.requires('comparesWrites', skip)
    for (let round = 0; round < rounds; round++) {
      const folder = `${fresh()}folder/`
      const names = ['a', 'b', 'c']
      const texts = ['one', 'two']
      const all = await Promise.all(
        texts.map(async (text, index) => {
          const puts = await Promise.all(names.map((name) => putOf(`${folder}${name}`, text)))
          return [{ kind: 'folder', key: folder } as const, ...(index ? puts.toReversed() : puts)]
        }),
      )
      const matching = names.map((name) => ({ key: `${folder}${name}`, version: undefined }))
      const winner = await race(all, matching)
      for (const name of names) expect(await content(`${folder}${name}`)).toBe(texts[winner])
      expect(await keysUnder(folder)).toEqual([folder, ...names.map((name) => folder + name)])
    }
  })
}
