import { expect, test } from 'vitest'
import { onceEach } from '../../../functions/documentation/reference.ts'

test('concurrent requests for the same key create the value of this key once', async () => {
  const made: string[] = []
  const get = onceEach(async (key: string) => made.push(key))
  await Promise.all([get('a'), get('b'), get('a')])
  await get('b')
  expect(made).toEqual(['a', 'b'])
})

test('if the creation of a value fails, the next request tries again', async () => {
  let attempts = 0
  const get = onceEach(async (_: string) => {
    attempts += 1
    if (attempts === 1) throw new Error('not yet')
    return 'made'
  })
  await expect(get('a')).rejects.toThrow('not yet')
  expect(await get('a')).toBe('made')
  expect(attempts).toBe(2)
})
