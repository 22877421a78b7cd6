import { once } from 'node:events'
import { readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { connect as connectSecurely, type TLSSocket } from 'node:tls'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { done } from '../../../lib/http/reply.ts'
import { closerOf, createSecureServer } from '../../../server/server.ts'
import { bareHandler } from '../../support/bare-handler.ts'
import { makeCertificate } from '../../support/certificates.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { messages } from '../../support/messages.ts'
import { serveHere } from '../../support/serve-here.ts'

type Pair = ReturnType<typeof makeCertificate>

const scratch = scratchDirectory(afterAll)
const [first, second] = ['first', 'second'].map((name) => makeCertificate(scratch, name)) as [Pair, Pair]
const locked = makeCertificate(scratch, 'locked', '-passout', 'pass:a')

/** A folder with the files of the first certificate. Nothing serves them yet. */
const certificateFiles = () => {
  const directory = scratchDirectory()
  const files = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') }
  const write = ({ cert, key }: Partial<Pair>, names: Pair = files) => {
    if (cert !== undefined) writeFileSync(names.cert, cert)
    if (key !== undefined) writeFileSync(names.key, key)
  }
  write(first)
  return { directory, files, write }
}

type Given = ReturnType<typeof certificateFiles>

const serve = async (given: Given) => {
  const printed: string[] = []
  const service = await serveHere({
    dataDirectory: join(given.directory, 'data'),
    tls: given.files,
    say: (sentence) => printed.push(sentence),
  })
  const port = Number(new URL(service.baseUrl).port)
  return { ...given, ...service, token: service.demo?.token ?? '', printed, port }
}

const startSecurely = () => serve(certificateFiles())

const handshake = async (port: number): Promise<TLSSocket> => {
  const socket = connectSecurely({ host: '127.0.0.1', port, rejectUnauthorized: false })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  return socket
}

const nameOf = async (port: number): Promise<unknown> => {
  const socket = await handshake(port)
  const { subject } = socket.getPeerCertificate()
  socket.destroy()
  return subject.CN
}

test('the service answers over https, and its links begin with https (O-23)', async () => {
  const { baseUrl, token } = await startSecurely()
  expect(baseUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  const options = { agent: false, ca: first.cert, headers: { Authorization: token } }
  const [answer] = await once(request(`${baseUrl}/api/v1/admin/sites`, options).end(), 'response')
  expect([answer.statusCode, await json(answer)]).toMatchObject([200, { items: [{ url: baseUrl }] }])
})

test('the service closes idle connections when it stops', async () => {
  const { port, stop, printed } = await startSecurely()
  const silent = connect(port, '127.0.0.1')
  const unused = await handshake(port)
  await Promise.all([stop(), once(silent, 'close'), once(unused, 'close')])
  expect(printed).toEqual([])
})

test('the service cuts off unfinished handshakes when it stops', async () => {
  const server = createSecureServer(first, () => bareHandler(async () => done).handler)
  const close = closerOf(server, 1)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [[half]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')])
  socket.write(Buffer.from([22, 3, 1]))
  await expect.poll(() => half.bytesRead).toBe(3)
  await Promise.all([close(), once(socket, 'close')])
})

const replaceByLink = (target: string, name: string) => {
  rmSync(name)
  symlinkSync(target, name)
}

/** Ways in which programs renew a certificate: over its files, by a rename, or behind a new symbolic link. */
const renewals: readonly ((given: Given, next: Pair) => void)[] = [
  ({ write }, next) => write(next),
  ...[renameSync, replaceByLink].map((place) => ({ files, write }: Given, next: Pair) => {
    const fresh = { cert: `${files.cert}.new`, key: `${files.key}.new` }
    write(next, fresh)
    place(fresh.cert, files.cert)
    place(fresh.key, files.key)
  }),
]

const { noCertificate, noKey, unreadable, otherKey } = messages.certificate

/** A fault, how a test causes it, and its message. */
const faults: readonly (readonly [string, (given: Given, next: Pair) => void, (files: Pair) => RegExp])[] = [
  ['a file is missing', ({ files }) => rmSync(files.key), ({ key }) => unreadable(key)],
  ['a file is too large', ({ write }) => write({ key: 'x'.repeat(2_000_000) }), ({ key }) => unreadable(key)],
  ['the certificate is empty', ({ write }) => write({ cert: '' }), noCertificate],
  ['the certificate is cut', ({ write }, { cert }) => write({ cert: cert.slice(0, 300) }), noCertificate],
  ['the chain is cut', ({ write }, { cert, key }) => write({ cert: cert + cert.slice(0, 10), key }), noCertificate],
  ['the key is cut', ({ write }, { key }) => write({ key: key.slice(0, 100) }), noKey],
  ['the key has a passphrase', ({ write }) => write({ key: locked.key }), noKey],
  ['the key belongs to another certificate', ({ write }, { cert }) => write({ cert }), otherKey],
]

describe('The service looks at the files of its certificate every second', () => {
  const startWithClock = async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const service = await startSecurely()
    // The service stops after this, with real timers.
    onTestFinished(() => void vi.useRealTimers())
    return service
  }
  const afterASecond = ({ printed }: Awaited<ReturnType<typeof startWithClock>>) => {
    printed.length = 0
    vi.advanceTimersByTime(1_000)
    return printed
  }

  test('A changed certificate is used at once, however its files changed (O-23)', async () => {
    const service = await startWithClock()
    const old = await handshake(service.port)
    for (const [index, renew] of renewals.entries()) {
      renew(service, index % 2 === 0 ? second : first)
      expect(afterASecond(service)).toEqual([expect.stringMatching(messages.certificate.replaced(service.files.cert))])
      expect(await nameOf(service.port)).toBe(index % 2 === 0 ? 'second' : 'first')
    }
    expect(old.destroyed).toBe(false)
  })

  test('A faulty certificate is not used, and the service keeps the old one (O-23)', async () => {
    const service = await startWithClock()
    for (const [index, [, spoil, complaint]] of faults.entries()) {
      const [name, next] = index % 2 === 0 ? (['first', second] as const) : (['second', first] as const)
      spoil(service, next)
      expect(afterASecond(service)).toEqual([expect.stringMatching(complaint(service.files))])
      expect(await nameOf(service.port)).toBe(name)
      service.write(next)
      expect(afterASecond(service)).toEqual([expect.stringMatching(messages.certificate.replaced(service.files.cert))])
    }
  })
})

test.for(faults)('A service does not start while %s (O-23)', async ([, spoil, complaint]) => {
  const given = certificateFiles()
  spoil(given, second)
  await expect(serve(given)).rejects.toThrow(complaint(given.files))
  expect(readdirSync(given.directory)).not.toContain('data')
})
