import { expect, test } from 'vitest'
import { createReplyCache, text } from '../../../lib/http/reply.ts'

/** A cache of replies, a store whose state the test sets, and a list of the replies that were created. */
const observed = () => {
  const store: { state: string | undefined } = { state: 'first' }
  const made: string[] = []
  const keep = createReplyCache(async () => store.state)
  const ask = async (key: string, length = 1) => {
    const reply = await keep(key, async () => {
      made.push(key)
      return text('text/plain', `${made.length}`.padEnd(length, ' '))
    })
    return reply.content.bytes.trim()
  }
  return { store, made, keep, ask }
}

test('a reply stays cached while the state of the store stays the same', async () => {
  const { store, ask } = observed()
  expect([await ask('a'), await ask('b'), await ask('a'), await ask('b')]).toEqual(['1', '2', '1', '2'])
  store.state = 'second'
  expect([await ask('a'), await ask('b'), await ask('a'), await ask('b')]).toEqual(['3', '4', '3', '4'])
})

test('after a change of the state, old replies no longer fill the cache', async () => {
  const { store, ask } = observed()
  await ask('a', 3_900_000)
  store.state = 'second'
  expect([await ask('b', 200_000), await ask('b')]).toEqual(['2', '2'])
})

test('a reply that began before a change is not cached after the change', async () => {
  const { store, keep, ask } = observed()
  const late = Promise.withResolvers<void>()
  const slow = keep('a', async () => {
    await late.promise
    return text('text/plain', 'before')
  })
  await Promise.resolve()
  store.state = 'second'
  await ask('b')
  late.resolve()
  expect((await slow).content.bytes).toBe('before')
  expect(await ask('a')).toBe('2')
})

test('a full cache drops old replies for newer ones', async () => {
  const { made, ask } = observed()
  for (const key of ['a', 'b', 'c']) await ask(key, 1_000_000)
  for (const key of ['a', 'b', 'c']) await ask(key)
  expect(made).toEqual(['a', 'b', 'c'])
  await ask('d', 1_500_000)
  for (const key of ['b', 'c', 'd']) await ask(key)
  expect(made).toEqual(['a', 'b', 'c', 'd'])
  await ask('a')
  expect(made).toEqual(['a', 'b', 'c', 'd', 'a'])
})

test('a reply that is larger than the cache is not cached', async () => {
  const { ask } = observed()
  expect([await ask('a', 4_000_000), await ask('a', 3_999_999), await ask('a')]).toEqual(['1', '2', '2'])
})

test('long keys fill the cache as long replies do', async () => {
  const { made, ask } = observed()
  const [long, longer] = ['a'.repeat(2_000_000), 'b'.repeat(3_000_000)]
  for (const key of [long, longer, longer, long]) await ask(key)
  expect(made.map((key) => key.length)).toEqual([2_000_000, 3_000_000, 2_000_000])
})
