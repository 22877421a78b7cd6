import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { fromGateway } from '../../../lib/aws/lambda/gateway.ts'
import { createSecretCheck } from '../../../lib/http/request.ts'
import { createAddressOf, readBlocks } from '../../../server/read-request.ts'
import { gatewayEvent } from '../../support/lambda.ts'

const messageFrom = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage

test('the address is that of the socket (A-79)', () => {
  const addressOf = createAddressOf(undefined, false)
  expect(addressOf(messageFrom('::ffff:192.0.2.1', '192.0.2.9'))).toBe('192.0.2.1')
  expect(addressOf(messageFrom('2001:db8::1'))).toBe('2001:db8::1')
})

test('the address is unknown behind a proxy that is not trusted (A-81)', () => {
  const addressOf = createAddressOf(undefined, true)
  expect(addressOf(messageFrom('127.0.0.1', '192.0.2.9'))).toBeUndefined()
})

test.each([
  ['127.0.0.1', '192.0.2.9', '192.0.2.9'],
  ['127.0.0.1', '203.0.113.5, 192.0.2.9, 10.1.2.3', '192.0.2.9'],
  ['::ffff:10.0.0.1', '192.0.2.9', '192.0.2.9'],
  ['198.51.100.7', '192.0.2.9', '198.51.100.7'],
  ['127.0.0.1', '10.0.0.2, 10.0.0.3', '10.0.0.2'],
  ['127.0.0.1', '192.0.2.9:5000, 10.1.2.3:80', '192.0.2.9'],
  ['127.0.0.1', '[2001:db8::1]:5000', '2001:db8::1'],
  ['127.0.0.1', 'unknown', undefined],
  ['127.0.0.1', undefined, '127.0.0.1'],
])('a connection from %s with X-Forwarded-For %s gives the address %s (A-80)', (peer, forwarded, address) => {
  const trusted = readBlocks(['127.0.0.1', '10.0.0.0/8'])
  expect(createAddressOf(trusted, true)(messageFrom(peer, forwarded))).toBe(address)
})

const malformedBlocks = ['', 'all', '10.0.0.0/33', '10.0.0.0/8/8', '::/129', '10.0.0.0/-1', '10.0.0/8']
test.each(malformedBlocks)('the malformed proxy block %j is refused (A-80)', (block) => {
  expect(readBlocks([block])).toBeUndefined()
})

test('the address comes from the gateway or the distribution (A-79)', () => {
  const secret = 's'.repeat(32)
  const requestContext = { identity: { sourceIp: '192.0.2.1' } }
  const addressWith = (headers: Readonly<Record<string, string>>) => {
    const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
    const event = gatewayEvent('/', { multiValueHeaders, requestContext })
    return fromGateway(event, 'encoded', new AbortController().signal, createSecretCheck([secret])).address
  }
  const viewer = { 'CloudFront-Viewer-Address': '198.51.100.7:41000' }
  expect(addressWith({})).toBe('192.0.2.1')
  expect(addressWith(viewer)).toBe('192.0.2.1')
  expect(addressWith({ ...viewer, 'x-origin-secret': 'x'.repeat(32) })).toBe('192.0.2.1')
  expect(addressWith({ ...viewer, 'x-origin-secret': secret })).toBe('198.51.100.7')
  expect(addressWith({ 'CloudFront-Viewer-Address': '2001:db8::7:41000', 'x-origin-secret': secret })).toBe(
    '2001:db8::7',
  )
  expect(addressWith({ 'x-origin-secret': secret })).toBeUndefined()
})
