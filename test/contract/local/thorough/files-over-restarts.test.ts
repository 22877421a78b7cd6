import { hash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { administer } from '../../../support/administration.ts'
import { storage } from '../../../support/paths.ts'
import type { SpawnedService } from '../../../support/spawned-service.ts'
import { test } from '../../../support/test.ts'

const put = async ({ request }: SpawnedService, name: string, body: string | Uint8Array<ArrayBuffer>) => {
  expect((await request(`${storage}/${name}`, { method: 'PUT', body })).status).toBe(200)
}

const metaOf = async ({ request }: SpawnedService, name: string): Promise<Record<string, unknown>> =>
  (await request(`${storage}/${name}?meta`)).json() as Promise<Record<string, unknown>>

test('files without a fingerprint are there after a restart, and get theirs', async ({ directory, start }) => {
  const first = await start()
  await put(first, 'mine/small.txt', 'hello')
  await put(first, 'mine/larger.bin', Buffer.alloc(40_000, 'x'))
  await first.stop()
  const database = new DatabaseSync(join(directory, 'site-admin.db'))
  database.exec('UPDATE objects SET fingerprint = NULL')
  database.close()
  expect(await administer(directory, ['check'])).toMatchObject({ status: 0 })

  const second = await start()
  expect(await (await second.request(`${storage}/mine/small.txt`)).text()).toBe('hello')
  const listing = await second.request(`${storage}/mine?meta&recursive=true`)
  const { contents } = (await listing.json()) as { contents: Record<string, unknown>[] }
  expect(contents.map(({ path, fingerprint }) => [path, fingerprint])).toEqual([
    ['larger.bin', null],
    ['small.txt', null],
  ])
  expect(await metaOf(second, 'mine/small.txt')).toMatchObject({ fingerprint: hash('md5', 'hello') })
  expect(await metaOf(second, 'mine/larger.bin')).toMatchObject({ fingerprint: hash('md5', 'x'.repeat(40_000)) })
})

test('the fingerprint of a large file is there for who asks right after the upload, and after a restart', async ({
  start,
}) => {
  const first = await start()
  const [head, tail] = [randomBytes(8 * 1024 ** 2), randomBytes(1024 ** 2)]
  const fingerprint = `${hash('md5', Buffer.concat([hash('md5', head, 'buffer'), hash('md5', tail, 'buffer')]))}-2`
  await put(first, 'large.bin', Buffer.concat([head, tail]))
  expect(await metaOf(first, 'large.bin')).toMatchObject({ fingerprint })
  await put(first, 'unasked.bin', Buffer.concat([head, tail]))
  await first.stop()
  const second = await start()
  expect(await metaOf(second, 'large.bin')).toMatchObject({ fingerprint })
  expect(await metaOf(second, 'unasked.bin')).toMatchObject({ fingerprint })
})

test('a link works without a token over a restart, and its log says nothing of it', async ({ start }) => {
  const first = await start()
  await put(first, 'linked.txt', 'hello')
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
