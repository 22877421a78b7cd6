import { describe, expect, it } from 'vitest'
import { storage } from '../../support/paths.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { namesIn, ownFolder, put, read, remove, upload } from '../support/storage.ts'

const own = ownFolder()

/** A request whose path stands there as a client has written it. */
const at = (path: string, options: Parameters<typeof call>[1] = {}) => call(`${storage}/${path}`, options)
const bytes = { 'Content-Type': 'application/octet-stream' }

describe('a run of slashes', () => {
  it('counts as one, in front too, whatever is asked: GET, PUT and DELETE of storage//_System/…', async () => {
    const file = `/_System/Apps/${own}/a.json`
    expect((await at(file, { method: 'PUT', body: '{"a":1}', headers: bytes })).status).toBe(200)
    expect((await at(file)).text).toBe('{"a":1}')
    expect((await read(`_System/Apps/${own}/a.json`)).text).toBe('{"a":1}')
    expect((await at(file, { method: 'DELETE' })).status).toBe(200)
    expectError(await read(`_System/Apps/${own}/a.json`), 404, 104001)
    await remove(`_System/Apps/${own}`)
  })

  it('counts as one between two names: PUT storage/a//b.txt', async () => {
    expect((await at(`${own}//runs///b.txt`, { method: 'PUT', body: 'b', headers: bytes })).status).toBe(200)
    expect(await namesIn(`${own}/runs`)).toEqual(['b.txt'])
    expect((await upload(`${own}//runs/`, [{ name: 'c.txt' }])).status).toBe(200)
    expect(await namesIn(`${own}/runs`)).toEqual(['b.txt', 'c.txt'])
  })

  it.each(['%2F', '/%2F/', '%2f%2F'])('counts as one where it is written %s', async (slashes) => {
    await put(`${own}/encoded/a`, 'a')
    expect((await at(`${slashes}${own}${slashes}encoded${slashes}a`)).text).toBe('a')
  })

  it.each(['/', '//', '%2F'])('is the root when nothing else is there: storage/%s', async (slashes) => {
    const { json } = await at(`${slashes}?meta`)
    expect(json).toMatchObject({ name: '', type: 'folder' })
    expect((await at(`${slashes}?status`)).json).toHaveProperty('percent')
    expectError(await at(slashes, { method: 'DELETE' }), 400, 104014)
    expectError(await at(slashes, { method: 'PUT', body: 'x' }), 400, 104014)
  })

  it('leads no further than any other path does', async () => {
    expectError(await at('/..//x'), 400, 104015)
    expectError(await at('//..%2F/x', { method: 'DELETE' }), 400, 104009)
    expectError(await at(`/${'x'.repeat(256)}`), 400, 104028)
  })

  it('is no part of the links', async () => {
    await put(`${own}/links/a`, 'a')
    const { json } = await at(`/${own}//links//?meta`)
    expect(json.name).toBe('links')
    for (const { links } of [json, ...json.contents]) {
      expect(new URL(links[0].uri).pathname).not.toContain('//')
    }
  })

  it('is answered to who asks from another origin', async () => {
    const headers = { Origin: 'https://example.com', 'Access-Control-Request-Method': 'PUT' }
    const preflight = await at(`/${own}//a`, { method: 'OPTIONS', token: null, headers })
    expect({ status: preflight.status, allow: preflight.headers['allow'] }).toEqual({
      status: 204,
      allow: expect.stringContaining('PUT'),
    })
  })
})
