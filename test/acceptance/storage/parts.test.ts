import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { at, ownFolder, read } from '../support/storage.ts'
import { createUploader, pathOf } from '../support/tus.ts'

const own = ownFolder()
const part = 8 * 1024 * 1024
const bytes = Buffer.alloc(part + 5, 'x')
const parts = [bytes.subarray(0, part), bytes.subarray(part)]
const digests = parts.map((one) => hash('sha256', one, 'hex')).join(',')

const begin = (name: string, size: number) => call(at(own, '?parts'), { method: 'POST', body: { name, size } })

interface Address {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

const sendTo = async ({ url, headers }: Address, body: Buffer): Promise<boolean> =>
  (await fetch(url, { method: 'PUT', headers, body: new Uint8Array(body) })).ok

it('The parts become the file, if the service supports parts (U-31, U-33)', async () => {
  const begun = await begin('film.mp4', bytes.length)
  if (begun.status !== 201) {
    expectError(begun, 400, 104000)
    return expect(begun.json.message).toContain('tus')
  }
  const upload = pathOf(begun)
  const { json } = await call(`${upload}?first=1&digests=${digests}`)
  const addresses: readonly Address[] = json.addresses
  const [first, second] = addresses
  if (!first || !second) throw new Error('An address is missing')
  expect(await sendTo(first, parts[0] ?? bytes)).toBe(true)
  expectError(await call(upload, { method: 'PATCH' }), 400, 104000)
  expect((await call(upload)).json).toMatchObject({ size: bytes.length, inParts: true, stored: [1] })
  expect(await sendTo(second, parts[1] ?? bytes)).toBe(true)
  expect((await call(upload, { method: 'PATCH' })).status).toBe(204)
  const stored = await read(`${own}/film.mp4`, '?meta')
  expect(stored.json).toMatchObject({ size: bytes.length, contentType: 'video/mp4' })
  expect((await call(upload)).json).toMatchObject({ complete: true, addresses: [] })
  return undefined
})

it.each([
  ['bytes with another digest', () => ({})],
  ['a digest that is not signed', (bytes: Buffer) => ({ 'x-amz-checksum-sha256': hash('sha256', bytes, 'base64') })],
])('The bucket refuses a part: %s (U-32)', async (_, headersOf) => {
  const begun = await begin('other.mp4', bytes.length)
  if (begun.status !== 201) return expectError(begun, 400, 104000)
  const { json } = await call(`${pathOf(begun)}?digests=${digests.slice(0, 64)}`)
  const [address]: readonly Address[] = json.addresses
  if (!address) throw new Error('There is no address')
  const other = Buffer.alloc(part)
  expect(await sendTo({ ...address, headers: { ...address.headers, ...headersOf(other) } }, other)).toBe(false)
  expect((await call(pathOf(begun), { method: 'DELETE' })).status).toBe(204)
  return undefined
})

it('The description of a resumable upload has no addresses (U-32, U-33)', async () => {
  const upload = await createUploader(own).begin('tus.txt', 5)
  expect((await call(upload)).json).toEqual({ size: 5, inParts: false, complete: false, stored: [], addresses: [] })
  expectError(await call(`${upload}?digests=${digests}`), 400, 104000)
  for (const method of ['PATCH', 'DELETE']) expectError(await call(upload, { method }), 412, 100412)
})
