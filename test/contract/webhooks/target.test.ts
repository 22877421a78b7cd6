import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import { createServer as createTcpServer, type Socket, setDefaultAutoSelectFamily } from 'node:net'
import os, { type NetworkInterfaceInfo } from 'node:os'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createResolve, createTarget, isPublic } from '../../../lib/webhooks/target.ts'
import { makeCertificate } from '../../support/certificates.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { listen, listenInTest } from '../../support/listen.ts'
import { messages } from '../../support/messages.ts'

const faults = messages.delivery
const sendTo = (url: string, options: Partial<Parameters<typeof createTarget>[0]> = {}) =>
  createTarget({ permitsPrivate: true, ...options }).send({ url, headers: { 'x-one': '1' }, body: '{"a":"ä"}' })

/** Answers each connection with raw bytes. */
const openRaw = async (answer: (socket: Socket) => void) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {}).once('data', () => answer(socket))
  })
  onTestFinished(() => void server.close())
  return listen(server)
}

const open = (listener: RequestListener) => listenInTest(createServer(listener))

test('A target gets a POST with headers and body, and its status is the outcome', async () => {
  let got: unknown
  const url = await open(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    got = { method: request.method, url: request.url, one: request.headers['x-one'], body }
    response.writeHead(202).end('thanks')
  })
  expect(await sendTo(`${url}/a?b=c`)).toEqual({ status: 202 })
  expect(got).toEqual({ method: 'POST', url: '/a?b=c', one: '1', body: '{"a":"ä"}' })
})

test('A long answer is cut off after 1 KiB (V-8)', async () => {
  const closed = Promise.withResolvers<void>()
  const url = await open((_, response) => {
    response.once('close', closed.resolve).write('a'.repeat(1025))
  })
  // Without the cut, this test would end too late.
  expect(await sendTo(url, { limit: 600_000 })).toEqual({ status: 200 })
  await closed.promise
})

test('An endless answer is cut off (V-8)', async () => {
  const closed = Promise.withResolvers<void>()
  const url = await openRaw((socket) => {
    socket.write('HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n')
    const more = () => socket.write('a'.repeat(65_536))
    socket.on('drain', more).once('close', closed.resolve)
    more()
  })
  expect(await sendTo(url)).toEqual({ status: 204 })
  await closed.promise
})

test.each<[string, string, (socket: Socket) => unknown]>([
  ['says nothing', faults.late(0.3), () => {}],
  [
    'never ends its headers',
    faults.late(0.3),
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ')
      const more = setInterval(() => socket.write('a'), 10)
      socket.once('close', () => clearInterval(more))
    },
  ],
  [
    'sends interim answers without end',
    faults.late(0.3),
    (socket) => {
      const more = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 10)
      socket.once('close', () => clearInterval(more))
    },
  ],
  ['resets the connection', faults.closed, (socket) => socket.resetAndDestroy()],
  ['ends the connection', faults.closed, (socket) => socket.end()],
  ['speaks another protocol', faults.failed('HPE_INVALID_CONSTANT'), (socket) => socket.end('220 mail ready\r\n')],
  ['upgrades', faults.closed, (socket) => socket.write('HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n')],
])('A target that %s counts as a failure without an answer (V-8)', async (_, fault, answer) => {
  expect(await sendTo(await openRaw(answer), { limit: 300 })).toEqual({ fault })
})

test('A status counts even if the rest of the answer never arrives (V-8)', async () => {
  const url = await open((_, response) => void response.write('a'))
  expect(await sendTo(url, { limit: 300 })).toEqual({ status: 200 })
})

test('A delivery to a target without TLS or listener fails with a reason', async () => {
  const server = createServer()
  const url = await listen(server)
  expect(await sendTo(url.replace('http:', 'https:'))).toMatchObject({
    fault: expect.stringContaining(faults.failed('').slice(0, -4)),
  })
  server.close()
  await once(server, 'close')
  expect(await sendTo(url)).toEqual({ fault: faults.refused })
})

test('If a target asks for a certificate, its own one is not blamed', async () => {
  const { cert, key } = makeCertificate(scratchDirectory(), 'target')
  const usual = getCACertificates()
  setDefaultCACertificates([cert])
  onTestFinished(() => setDefaultCACertificates(usual))
  const url = await listenInTest(createSecureServer({ cert, key, requestCert: true }))
  const fault = faults.failed('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED')
  expect(await sendTo(url.replace('http:', 'https:'))).toEqual({ fault })
})

test('A request that is cut off when the sender ends has no outcome', async () => {
  const arrived = Promise.withResolvers<void>()
  const url = await open(() => arrived.resolve())
  const target = createTarget({ permitsPrivate: true })
  const sent = target.send({ url, headers: {}, body: '' })
  await arrived.promise
  target.close()
  await expect(sent).rejects.toThrow()
  await expect(target.send({ url, headers: {}, body: '' })).rejects.toThrow()
})

const spellings = `
  127.0.0.1 127.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 127.0.0.1. 0.0.0.0 0 [::] [::1]
  [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b:1::127.0.0.1]
  [2002:7f00:1::] [::ffff:0:127.0.0.1] 10.0.0.1 172.16.0.1 192.168.0.1 100.64.0.1 169.254.169.254
  [::ffff:169.254.169.254] [fd00:ec2::254] [fe80::1] [fec0::1] 168.63.129.16 100.100.100.200 192.0.0.192 224.0.0.1
  255.255.255.255 240.0.0.1 [ff02::1] １２７.0.0.1`
  .trim()
  .split(/\s+/)

test.each(spellings)('Without permission, nothing is sent to %s (V-14)', async (host) => {
  let connections = 0
  const url = await listenInTest(
    createServer().on('connection', () => {
      connections += 1
    }),
  )
  const { port } = new URL(url)
  expect(await sendTo(`http://${host}:${port}/`, { permitsPrivate: false })).toEqual({ fault: faults.private })
  expect(connections).toBe(0)
})

test.each(['93.184.215.14', '2606:4700:4700::1111', '64:ff9b::93.184.215.14'])(
  'The address %s is public (V-14)',
  (address) => expect(isPublic(address)).toBe(true),
)

test('A public address of this machine is not public (V-14)', () => {
  const own = (address: string) => ({ address }) as NetworkInterfaceInfo
  const addresses = vi.spyOn(os, 'networkInterfaces')
  addresses.mockReturnValue({ lo: [own('127.0.0.1')], eth0: [own('10.0.0.1'), own('93.184.215.14')] })
  syncBuiltinESMExports()
  expect(isPublic('93.184.215.14')).toBe(false)
  addresses.mockRestore()
  syncBuiltinESMExports()
})

test('With permission, every spelling of this machine can be a target (V-14)', async () => {
  const { port } = new URL(await open((_, response) => void response.writeHead(204).end()))
  for (const host of ['127.0.0.1', '2130706433', '0177.0.0.1', 'localhost'])
    expect(await sendTo(`http://${host}:${port}/`)).toEqual({ status: 204 })
})

/** A DNS server for one test: answers each question for an IPv4 address with the next of these addresses, if any. */
const openNameServer = async (addresses: readonly string[], ignoresIpv6 = false) => {
  const socket = createSocket('udp4')
  let asked = 0
  socket.on('message', (question, { port, address }) => {
    const typeAt = question.indexOf(0, 12) + 1
    const asksForIpv4 = question.readUInt16BE(typeAt) === 1
    if (ignoresIpv6 && !asksForIpv4) return
    const answer = asksForIpv4 ? addresses[Math.min(asked, addresses.length - 1)] : undefined
    if (asksForIpv4) asked += 1
    const head = Buffer.from(question.subarray(0, typeAt + 4))
    head.writeUInt16BE(0x81_80, 2)
    head.writeUInt32BE(answer ? 0x1_00_00 : 0, 6)
    head.writeUInt16BE(0, 10)
    head.writeUInt16BE(answer ? 1 : 0, 6)
    const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...(answer ?? '').split('.').map(Number)])
    socket.send(Buffer.concat([head, ...(answer ? [record] : [])]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked: () => asked }
}

test('Each connection checks the network address of the host name (V-14)', async () => {
  const { port } = new URL(await open((_, response) => void response.writeHead(204).end()))
  const names = await openNameServer(['127.0.0.1', '127.0.0.2', '127.0.0.1', '10.0.0.1'])
  const resolve = createResolve([names.address])
  // Only 127.0.0.1 counts as public here, so that the test needs no other machine.
  const isPermitted = (address: string) => address === '127.0.0.1'
  const target = createTarget({ permitsPrivate: false, resolve, isPermitted })
  const send = () => target.send({ url: `http://changing.example:${port}/`, headers: {}, body: '' })
  expect(await send()).toEqual({ status: 204 })
  expect(names.asked()).toBe(1)
  expect(await send()).toEqual({ fault: faults.private })
  expect(await send()).toEqual({ status: 204 })
  expect(await send()).toEqual({ fault: faults.private })
})

test.each<[string, readonly string[], string]>([
  ['without an address is not called private', [], faults.noAddress('ENODATA')],
  ['that leads to this machine is refused (V-14)', ['127.0.0.1'], faults.private],
])('A host name %s', async (_, addresses, fault) => {
  const resolve = createResolve([(await openNameServer(addresses)).address])
  const { port } = new URL(await open((_, response) => void response.writeHead(204).end()))
  expect(await sendTo(`http://other.example:${port}/`, { permitsPrivate: false, resolve })).toEqual({ fault })
})

test('If the DNS server refuses the question, the target is not blamed', async () => {
  const resolve = createResolve(['127.0.0.1:1'])
  const fault = faults.noAddress('ECONNREFUSED')
  expect(await sendTo('http://other.example/', { permitsPrivate: false, resolve })).toEqual({ fault })
})

test('Only a few of the thousands of addresses of a host name are tried (V-15)', async () => {
  const resolve = async () => Array<string>(4_000).fill('93.184.215.14')
  const isPermitted = vi.fn(() => false)
  expect(await sendTo('http://many.example/', { permitsPrivate: false, resolve, isPermitted })).toHaveProperty('fault')
  expect(isPermitted.mock.calls.length).toBeLessThan(50)
})

test('If the machine gets another DNS server, the next delivery asks this one', async () => {
  const [one, other] = [await openNameServer(['127.0.0.1']), await openNameServer(['127.0.0.2'])]
  const servers = [one.address]
  const resolve = createResolve(servers)
  expect(await resolve('a.example')).toEqual(['127.0.0.1'])
  servers[0] = other.address
  expect(await resolve('a.example')).toEqual(['127.0.0.2'])
})

test('A DNS server that ignores IPv6 leaves enough time for a delivery (V-8)', async () => {
  const url = await open((_, response) => void response.writeHead(204).end())
  const names = await openNameServer(['127.0.0.1'], true)
  const given = { permitsPrivate: false, isPermitted: () => true, resolve: createResolve([names.address], 100) }
  const sent = sendTo(url.replace('127.0.0.1', 'old.example'), { ...given, limit: 2_000 })
  expect(await sent).toEqual({ status: 204 })
})

test('A host name is found even if Node must not choose between IPv4 and IPv6', async () => {
  setDefaultAutoSelectFamily(false)
  onTestFinished(() => setDefaultAutoSelectFamily(true))
  const url = (await open((_, response) => void response.writeHead(204).end())).replace('127.0.0.1', 'one.example')
  const resolve = async () => ['127.0.0.1']
  expect(await sendTo(url, { permitsPrivate: false, resolve, isPermitted: () => true })).toEqual({ status: 204 })
})
