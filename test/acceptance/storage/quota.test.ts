import { beforeEach, expect } from 'vitest'
import { formHeaders, multipart } from '../../support/multipart.ts'
import { admin, createSite, issueToken, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { type Call, call } from '../support/http.ts'
import { asBytes, inTus, metadata, pathOf } from '../support/tus.ts'

let site: number
let token: string
beforeEach(async () => {
  site = await createSite('Limited', '--quota', '10')
  token = await issueToken([site], 'files')
})

const send = (method: string, target: string, more: Call = {}) =>
  call(`/api/v2/admin/sites/${site}/storage${target}`, { method, token, ...more })
const put = (target: string, body: string) => send('PUT', target, { body })
const restoring = { body: {}, headers: { 'Content-Type': 'application/json' } }
const shown = async () => {
  const { quota, usedBytes, keptBytes } = await admin('site', 'show', String(site))
  return { quota, usedBytes, keptBytes }
}

testWithAdmin('A change beyond the quota answers 104005 with used bytes and quota (S-121, E-33)', async () => {
  for (const name of ['a.txt', 'b.txt']) await put(`/gone/${name}`, 'xx')
  await send('DELETE', '/gone')
  expect((await put('/in/a.txt', 'eight by')).status).toBe(200)
  const files = ['b', 'c'].map((name) => ({ name, content: 'xx' }))
  const changes: readonly [string, string, Call][] = [
    ['PUT', '/b.txt', { body: 'xxx' }],
    ['PUT', '/b.html?version=draft', { body: 'xxx' }],
    ['PUT', '/in/a.txt', { body: 'eleven byte' }],
    ['POST', '/f', { body: multipart(files), headers: formHeaders }],
    ['PUT', '/in/a.txt?meta', { body: { copyTo: '/b.txt' } }],
    ['PUT', '/in?meta', { body: { copyTo: '/copy' } }],
    ['POST', '/gone?restore', restoring],
    ['POST', '', { headers: { ...inTus, 'Upload-Length': '3', 'Upload-Metadata': metadata({ filename: 'b' }) } }],
  ]
  for (const [method, target, more] of changes) {
    const answer = await send(method, target, more)
    expectError(answer, 400, 104005)
    expect(answer.json.message).toMatch(/quota of 10 bytes, and 8 of them are in use/)
  }
  expect((await send('GET', '?meta&recursive=true')).json.contents).toMatchObject([{ path: 'in/a.txt' }])
  expect(await shown()).toEqual({ quota: 10, usedBytes: 8, keptBytes: 4 })
})

testWithAdmin('A copy to a taken name answers 104022, also without room (S-53, S-121)', async () => {
  await put('/a.txt', 'eight by')
  await put('/b.txt', 'x')
  expectError(await send('PUT', '/a.txt?meta', { body: { copyTo: '/b.txt' } }), 400, 104022)
})

testWithAdmin('A removal frees the bytes of a file, and a restore uses them (S-120, S-121)', async () => {
  expect((await put('/a.txt', 'ten bytes.')).status).toBe(200)
  expect((await send('DELETE', '/a.txt')).status).toBe(200)
  expect((await put('/b.txt', 'four')).status).toBe(200)
  expectError(await send('POST', '/a.txt?restore', restoring), 400, 104005)
  expect(await shown()).toEqual({ quota: 10, usedBytes: 4, keptBytes: 10 })
  await send('DELETE', '/b.txt')
  expect((await send('POST', '/a.txt?restore', restoring)).status).toBe(200)
})

testWithAdmin('The quota counts the length of an open upload, and only once (S-122, S-123)', async () => {
  const uploadIn = async (length: Readonly<Record<string, string>>) =>
    pathOf(await send('POST', '', { headers: { ...inTus, ...length, 'Upload-Metadata': metadata({ filename: 'a' }) } }))
  const append = (upload: string, offset: number, body: string, headers = {}) =>
    call(upload, { method: 'PATCH', token, body, headers: { ...asBytes, 'Upload-Offset': String(offset), ...headers } })
  const known = await uploadIn({ 'Upload-Length': '7' })
  expectError(await put('/b.txt', 'four'), 400, 104005)
  const unknown = await uploadIn({ 'Upload-Defer-Length': '1' })
  expect((await append(unknown, 0, 'xxx')).status).toBe(204)
  expectError(await append(unknown, 3, 'x'), 400, 104005)
  expectError(await append(unknown, 3, '', { 'Upload-Length': '4' }), 400, 104005)
  expect((await call(unknown, { method: 'HEAD', token, headers: inTus })).headers['upload-offset']).toBe('3')
  expect((await append(known, 0, 'seven b')).status).toBe(204)
  expect((await call(unknown, { method: 'DELETE', token, headers: inTus })).status).toBe(204)
  expect(await shown()).toEqual({ quota: 10, usedBytes: 7, keptBytes: 0 })

  const refused = await uploadIn({ 'Upload-Length': '3' })
  await send('DELETE', '/a')
  await send('PUT', '/a?type=folder')
  expectError(await append(refused, 0, 'xxx'), 400, 104022)
  expect(await shown()).toMatchObject({ usedBytes: 0 })
})

testWithAdmin('A site over a reduced quota can shrink, move and remove files (S-123, T-57)', async () => {
  await put('/a.txt', 'nine byte')
  expect(await admin('site', 'quota', String(site), '5')).toMatchObject({ id: site, quota: 5 })
  expect((await send('GET', '/a.txt')).text).toBe('nine byte')
  expect((await put('/a.txt', 'seven b')).status).toBe(200)
  expect((await send('PUT', '/a.txt?meta', { body: { name: 'b.txt' } })).status).toBe(200)
  expect(await shown()).toMatchObject({ quota: 5, usedBytes: 7 })
  expect((await send('DELETE', '/b.txt')).status).toBe(200)
  expect(await admin('site', 'quota', String(site), 'none')).toMatchObject({ quota: null })
})
