import { beforeAll, expect, it } from 'vitest'
import { storage } from '../../support/paths.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { ownFolder, read, remove, store } from '../support/storage.ts'

const own = ownFolder()

beforeAll(async () => {
  await store(`${own}/digits.txt`, '0123456789')
})

const linkTo = async (path: string, query = '?link') => {
  const { status, json, headers } = await read(path, query)
  expect({ status, cache: headers['cache-control'] }).toEqual({ status: 200, cache: 'no-store' })
  expect(Object.keys(json).toSorted()).toEqual(['expires', 'url'])
  return { url: String(json.url), expires: Date.parse(json.expires) }
}

it('A link works without a token, for five minutes (S-73)', async () => {
  const { url, expires } = await linkTo(`${own}/digits.txt`)
  const now = Date.now()
  expect(expires).toBeGreaterThan(now + 200_000)
  expect(expires).toBeLessThan(now + 310_000)
  expect(await (await fetch(url)).text()).toBe('0123456789')
})

it('A range can be read through a link (S-73)', async () => {
  const { url } = await linkTo(`${own}/digits.txt`)
  const part = await fetch(url, { headers: { Range: 'bytes=3-5' } })
  expect([part.status, await part.text()]).toEqual([206, '345'])
})

it('A link returns the file as an attachment without its own type (S-73)', async () => {
  await store(`${own}/größe.html`, '<script></script>')
  const { headers } = await fetch((await linkTo(`${own}/größe.html`)).url)
  expect(headers.get('content-type')).toBe('application/octet-stream')
  expect(headers.get('content-disposition')).toBe(
    `attachment; filename="gr__e.html"; filename*=UTF-8''gr%C3%B6%C3%9Fe.html`,
  )
})

it('A link returns only the version for which the link was made (S-73)', async () => {
  await store(`${own}/replaced.txt`, 'first')
  const { url } = await linkTo(`${own}/replaced.txt`)
  await store(`${own}/replaced.txt`, 'second')
  expect(await (await fetch(url)).text()).toBe('first')
  await remove(`${own}/replaced.txt`)
  expect(await (await fetch(url)).text()).toBe('first')
  await store(`${own}/replaced.txt`, 'second')
  expect(await (await fetch((await linkTo(`${own}/replaced.txt`)).url)).text()).toBe('second')
})

it('With version=draft, a link returns the draft (S-71)', async () => {
  await store(`${own}/linked.html`, 'live')
  await store(`${own}/linked.html`, 'draft', '?version=draft')
  expect(await (await fetch((await linkTo(`${own}/linked.html`)).url)).text()).toBe('live')
  const draft = await linkTo(`${own}/linked.html`, '?link&version=draft')
  expect(await (await fetch(draft.url)).text()).toBe('draft')
})

it('Links work for file names of every kind', async () => {
  const name = 'a b&c=d+%41#é😀"\'.txt'
  await store(`${own}/${name}`, 'odd')
  expect(await (await fetch((await linkTo(`${own}/${name}`)).url)).text()).toBe('odd')
})

it('A link that was changed is refused (S-73)', async () => {
  const { url } = await linkTo(`${own}/digits.txt`)
  await store(`${own}/other.txt`, 'secret')
  for (const changed of [url.replace('digits.txt', 'other.txt'), url.slice(0, -2)]) {
    const response = await fetch(changed)
    expect([403, 404]).toContain(response.status)
    expect(await response.text()).not.toContain('secret')
  }
})

it('A link without its signature is refused (S-73)', async () => {
  const { url } = await linkTo(`${own}/digits.txt`)
  expect([403, 404]).toContain((await fetch(url.replace(/&[^&=]*signature=[^&]*/i, ''))).status)
})

it('?link of a missing file answers 104001, of a folder 104002 (E-29, E-30)', async () => {
  expectError(await read(`${own}/nothing`, '?link'), 404, 104001)
  expectError(await read(own, '?link'), 400, 104002)
  expectError(await call(`${storage}?link`), 400, 104002)
})

it('?meta and ?status take precedence over ?link', async () => {
  expect((await read(`${own}/digits.txt`, '?link&meta')).json).toMatchObject({ name: 'digits.txt' })
  expect((await call(`${storage}?link&status`)).json).toHaveProperty('percent')
})
