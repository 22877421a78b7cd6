import { expect, test } from 'vitest'
import { describeOn, handsOfPorts } from '../../support/hands.ts'

const hour = 3600 * 1000

let now = Date.UTC(2026, 0, 1)
const clock = { wall: () => now, monotonic: () => performance.now() }
describeOn({ kinds: handsOfPorts, subject: 'the progress of uploads', clock }, (hand) => {
  const { progress } = hand.stores

  const upload = (token: string, id: string) => ({ token, id })

  test.each([
    ['the clock stays', 0],
    ['the clock goes back', 2 * hour],
  ])('if %s, progress is that of the upload that began or continued last (S-86, S-89)', async (token, back) => {
    const [older, newer] = [upload(token, 'x'), upload(token, 'b')]
    await progress.begin(older, 0)
    await progress.report(older, 40)
    now -= back
    await progress.begin(newer, 0)
    expect(await progress.percentOf(token)).toBe(0)
    await progress.report(older, 100)
    expect(await progress.percentOf(token)).toBe(0)
    await progress.report(newer, 7)
    await progress.report(newer, 3)
    expect(await progress.percentOf(token)).toBe(7)
    expect(await hand.connect().progress.percentOf(token)).toBe(7)
    await progress.begin(older, 50)
    await progress.report(newer, 90)
    expect(await progress.percentOf(token)).toBe(50)
    now += back
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
