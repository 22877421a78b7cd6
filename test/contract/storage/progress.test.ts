import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { formHeaders, multipart } from '../../support/multipart.ts'
import { openStorage } from './service.ts'

it('The progress of an upload is visible while it runs (S-86, S-87; operation 13)', async () => {
  let passed = 0
  const storage = await openStorage({ clock: { wall: Date.now, monotonic: () => passed } })
  const percent = async (): Promise<number> => (await storage.get('', { status: '' })).json.percent
  const seen: number[] = []
  const form = multipart([{ name: 'a', content: 'x'.repeat(100_000) }])

  /** Sends quarters of a body, one per second. Each waits until the progress of the previous one is visible. */
  async function* slowly(): AsyncGenerator<Buffer> {
    const quarter = Math.ceil(form.length / 4)
    for (let at = 0; at < form.length; at += quarter) {
      const before = seen.at(-1) ?? 0
      passed += 1_000
      yield form.subarray(at, at + quarter)
      if (at + quarter < form.length) await expect.poll(percent).toBeGreaterThan(before)
      seen.push(await percent())
    }
  }

  expect(await percent()).toBe(0)
  const headers = { ...formHeaders, 'Content-Length': String(form.length) }
  const body = Readable.from(slowly(), { highWaterMark: 1 })
  expect((await storage.call('POST', '/slow', { headers, body })).status).toBe(200)
  expect(seen.slice(0, 3).map((value) => Math.round(value / 5) * 5)).toEqual([25, 50, 75])
  expect(await percent()).toBe(100)
  // A request that fails within 500 ms writes no progress (S-90).
  expect((await storage.post('/slow/a', [{ name: 'b', content: 'x' }])).status).toBe(400)
  expect(await percent()).toBe(100)
})

it.each([
  ['of half a body', true, 50],
  ['without a declared length (S-88)', false, 0],
])('The progress %s is visible while the upload stalls, and after it fails (S-87)', async (_, isDeclared, percent) => {
  let passed = 0
  const storage = await openStorage({ clock: { wall: Date.now, monotonic: () => passed } })
  await storage.post('/before', [{ name: 'a', content: 'x' }])
  const form = multipart([{ name: 'a', content: 'x'.repeat(100_000) }])
  const body = new Readable({ read() {} })
  body.push(form.subarray(0, form.length / 2 + 1))
  const headers = { ...formHeaders, ...(isDeclared && { 'Content-Length': String(form.length) }) }
  const stalled = storage.call('POST', '/stalled', { headers, body })
  /** Each look comes a second after the one before. */
  const seen = async (): Promise<number> => {
    passed += 1_000
    return (await storage.get('', { status: '' })).json.percent
  }
  await expect.poll(seen).toBe(percent)
  body.destroy(new Error('the caller is gone'))
  expect((await stalled).status).toBe(400)
  expect(await seen()).toBe(percent)
})
