import { expect, it } from 'vitest'
import type { Expected } from '../../../../lib/storage/object-store.ts'
import { nowhere } from '../../../support/objects.ts'
import { kilobyte, megabyte, type Workbench } from './workbench.ts'

/** Changes that expect versions or free names. */
export const describeConditions = (bench: Workbench, isLarge: boolean): void => {
  const { fresh, stage, put, keysUnder } = bench

  const seen = async (key: string): Promise<Expected> => ({ key, version: (await bench.store.find(key))?.version })
  const putOf = async (key: string, text: string | Buffer, staged = stage(key, text)) => ({
    kind: 'put' as const,
    key,
    staged: await staged,
  })

  const large = Buffer.alloc(isLarge ? 8 * megabyte + 1 : 40 * kilobyte, 'x')
  const writes: readonly (readonly [string, (key: string) => ReturnType<typeof putOf>])[] = [
    ['a few bytes', (key) => putOf(key, 'mine')],
    ['many bytes', (key) => putOf(key, large)],
    ['many bytes whose key was not known', (key) => putOf(key, large, stage(undefined, large))],
  ]

  it.each(writes)('If a caller saw no file, only a free key is filled: %s (S-64)', async (_, changeOf) => {
    const key = `${fresh()}a`
    const nothing = { key, version: undefined }
    const first = await changeOf(key)
    expect(await bench.place([first], { matching: [nothing] })).toEqual({ outcome: 'placed' })
    const before = await seen(key)
    const second = await changeOf(key)
    expect(await bench.place([second], { matching: [nothing] })).toEqual({ outcome: 'changed', key })
    await second.staged.discard()
    expect(await seen(key)).toEqual(before)
  })

  it('A file cannot take the name of a folder that has no marker (S-43)', async () => {
    const prefix = fresh()
    await put(`${prefix}name/below`, 'x')
    const file = await putOf(`${prefix}name`, 'file')
    for (const locks of [{}, { seen: new Set<string>() }]) {
      const conditions = { absent: [`${prefix}name/`], unlocked: { ...nowhere.unlocked, ...locks } }
      expect(await bench.place([file], conditions)).toEqual({ outcome: 'occupied', key: `${prefix}name/` })
      expect(await keysUnder(prefix)).toEqual([`${prefix}name/below`])
    }
    await file.staged.discard()
  })
}
