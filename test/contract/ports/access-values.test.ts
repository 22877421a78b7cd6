import { expect, test } from 'vitest'
import { addIssuer } from '../../../lib/access/issuers/issuers.ts'
import { describeOn, handsOfPorts } from '../../support/hands.ts'

let now = Date.now()
const clock = { wall: () => now, monotonic: () => now }
describeOn({ kinds: handsOfPorts, subject: 'values and issuers', clock }, (hand) => {
  const { accessValues, issuers } = hand.stores
  const soon = () => Math.floor(now / 1000) + 60

  test('A value stays under its key until the value expires', async () => {
    expect(await accessValues.put('two', 'first', soon())).toBe(true)
    expect(await accessValues.put('two', 'second', soon())).toBe(false)
    expect(await accessValues.put('two', 'first', soon())).toBe(true)
    now += 61_000
    expect(await accessValues.get('two')).toBeUndefined()
    expect(await accessValues.put('two', 'second', soon())).toBe(true)
    now += 61_000
    expect(await accessValues.take('two')).toBeUndefined()
  })

  test('A value without an expiry stays', async () => {
    await accessValues.put('three', 'first')
    now += 400 * 24 * 3600 * 1000
    expect(await accessValues.put('three', 'second')).toBe(false)
    expect(await hand.connect().accessValues.get('three')).toBe('first')
  })

  test('If 20 callers store a value under the same key at once, one of them succeeds', async () => {
    const ends = soon()
    const puts = Array.from({ length: 20 }, (_, index) => accessValues.put('four', `value ${index}`, ends))
    expect((await Promise.all(puts)).filter(Boolean)).toHaveLength(1)
    const taken = await Promise.all(Array.from({ length: 20 }, () => accessValues.take('four')))
    expect(taken.filter((value) => value !== undefined)).toHaveLength(1)
  })

  test('Concurrent changes of the issuers are all stored', async () => {
    const ids = ['a', 'b', 'c']
    const add = (id: string) =>
      issuers.changeTrust((trust) => addIssuer(trust, { id, url: `https://${id}.example.com`, audience: 'x' }), [])
    await Promise.all(ids.map(add))
    expect((await hand.connect().issuers.trust()).issuers.map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
  })
})
