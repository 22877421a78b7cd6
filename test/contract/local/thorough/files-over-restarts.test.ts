import { expect } from 'vitest'
import { storage } from '../../../support/paths.ts'
import { test } from '../../../support/test.ts'

test('A download link works after a restart, and the log does not show it', async ({ start }) => {
  const first = await start()
  expect((await first.request(`${storage}/linked.txt`, { method: 'PUT', body: 'hello' })).status).toBe(200)
  const answer = await first.request(`${storage}/linked.txt?link`)
  const { url } = (await answer.json()) as { url: string }
  const { origin, pathname, search } = new URL(url)
  expect(origin).toBe(first.baseUrl)
  expect(await (await fetch(url)).text()).toBe('hello')
  const { stderr } = await first.stop()
  expect(stderr).toContain('GET /downloads/live/')
  expect(stderr).not.toContain(new URL(url).searchParams.get('signature'))
  const second = await start()
  const again = await fetch(`${second.baseUrl}${pathname}${search}`)
  expect([again.status, await again.text()]).toEqual([200, 'hello'])
  expect((await fetch(`${second.baseUrl}${pathname}`)).status).toBe(404)
})
