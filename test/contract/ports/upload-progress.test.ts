import { expect, test } from 'vitest'
import { describeOn, handsOfPorts } from '../../support/hands.ts'

const hour = 3600 * 1000

let now = Date.UTC(2026, 0, 1)
const clock = { wall: () => now, monotonic: () => performance.now() }
describeOn({ kinds: handsOfPorts, subject: 'the progress of uploads', clock }, (hand) => {
  const { progress } = hand.stores

  const upload = (token: string, id: string) => ({ token, id })

  test('progress is that of the upload that began or continued last (S-86)', async () => {
    const [older, newer] = [upload('a', 'x'), upload('a', 'b')]
    await progress.begin(older, 0)
    await progress.report(older, 40)
    await progress.begin(newer, 0)
    expect(await progress.percentOf('a')).toBe(0)
    await progress.report(older, 100)
    expect(await progress.percentOf('a')).toBe(0)
    await progress.report(newer, 7)
    await progress.report(newer, 3)
    expect(await progress.percentOf('a')).toBe(7)
    expect(await hand.connect().progress.percentOf('a')).toBe(7)
    await progress.begin(older, 50)
    await progress.report(newer, 90)
    expect(await progress.percentOf('a')).toBe(50)
  })

  test('progress is that of the last upload, even if the clock went back (S-86, S-89)', async () => {
    const [older, newer] = [upload('clock', 'x'), upload('clock', 'b')]
    await progress.begin(older, 0)
    await progress.report(older, 90)
    now -= 2 * hour
    await progress.begin(newer, 0)
    expect(await progress.percentOf('clock')).toBe(0)
    await progress.report(newer, 10)
    await progress.report(older, 95)
    expect(await progress.percentOf('clock')).toBe(10)
    now += 2 * hour
  })

  test('an upload that reports its progress only once also has progress (S-90)', async () => {
    await progress.begin(upload('short', 'x'), 40)
    await progress.begin(upload('short', 'y'), 100)
    expect(await progress.percentOf('short')).toBe(100)
    await progress.report(upload('short', 'x'), 90)
    await progress.begin(upload('short', 'y'), 50)
    expect(await progress.percentOf('short')).toBe(100)
  })

  test('a report of progress for an upload that has not begun is ignored', async () => {
    await progress.report(upload('unknown', 'x'), 60)
    expect(await progress.percentOf('unknown')).toBe(0)
  })

  test('progress is forgotten after a day (S-89)', async () => {
    await progress.begin(upload('day', 'x'), 0)
    await progress.report(upload('day', 'x'), 100)
    now += 23 * hour
    expect(await progress.percentOf('day')).toBe(100)
    now += 2 * hour
    expect(await progress.percentOf('day')).toBe(0)
    await progress.begin(upload('day', 'y'), 0)
    await progress.report(upload('day', 'y'), 30)
    expect(await progress.percentOf('day')).toBe(30)
  })
})
