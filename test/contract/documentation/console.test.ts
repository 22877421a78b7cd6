import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { fromGateway, toGateway } from '../../../lib/aws/lambda/gateway.ts'
import type { Handler } from '../../../lib/http/request.ts'
import type { Stores } from '../../../lib/service/stores.ts'
import type { DataCentre } from '../../../lib/sites/site-directory.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { answerTo, requestOf, send } from '../../support/gateway.ts'
import { openHandler } from '../../support/handlers.ts'
import { gatewayEvent } from '../../support/lambda.ts'

const script = `document.title = ${JSON.stringify('there '.repeat(500))}`
const page =
  '<!doctype html><html data-kept-days="%keptDays%" data-base-url="%baseUrl%"><script src="console/main-AB12CD34.js"></script>'

/** A minimal build of the console, which is enough to serve it. */
const consoleFolder = scratchDirectory(afterAll)
mkdirSync(join(consoleFolder, 'below'))
for (const [name, text] of [
  ['index.html', page],
  ['main-AB12CD34.js', script],
  ['below/deep.txt', 'deep'],
  ['meta.json', '{}'],
] as const)
  writeFileSync(join(consoleFolder, name), text)

const registered: Readonly<Record<string, DataCentre>> = {
  us: { id: 'us', url: 'https://us.example.com/a/b', isDefault: true },
  eu: { id: 'eu', url: 'https://eu.example.com:8443', isDefault: false },
}
const sites = { getDataCentre: async (id: string) => registered[id] } as Stores['sites']
const telemetry = { request: () => {} }

type Settings = Parameters<typeof openHandler.documentation>[0]
const handlerOf = (settings: Partial<Settings> = {}, built = consoleFolder): Handler =>
  openHandler.documentation(
    { dataCentre: 'us', dataCentres: ['us', 'eu'], keptDays: 30, ...settings },
    { sites },
    { telemetry, consoleFolder: built },
  )

const connectSources = async (handler: Handler): Promise<string | undefined> => {
  const policy = (await send(handler, 'GET', '/console')).headers['content-security-policy']
  return policy?.split('; ').find((directive) => directive.startsWith('connect-src'))
}

test('the page may call every registered data centre, and the bucket', async () => {
  expect(await connectSources(handlerOf())).toBe(
    "connect-src 'self' https://us.example.com https://eu.example.com:8443",
  )
  const withBucket = handlerOf({ dataCentres: ['us', 'to come'], downloadsUrl: 'https://files.s3.example.com' })
  expect(await connectSources(withBucket)).toBe(
    "connect-src 'self' https://us.example.com https://files.s3.example.com",
  )
})

test('the page and its ETag show for how long removed files are kept (H-14)', async () => {
  const [one, ninety] = await Promise.all([1, 90].map((keptDays) => send(handlerOf({ keptDays }), 'GET', '/console')))
  expect(one?.text).toContain('data-kept-days="1"')
  expect(ninety?.text).toContain('data-kept-days="90"')
  expect(one?.headers['etag']).not.toBe(ninety?.headers['etag'])
})

test('without a build of the console, the answer says how to build it', async () => {
  const { status, text } = await send(handlerOf({}, join(consoleFolder, 'nowhere')), 'GET', '/console')
  expect({ status, text }).toEqual({ status: 404, text: expect.stringContaining('npm run build:console') })
})

const file = '/console/main-AB12CD34.js'
const compressed = { headers: { Accept: '*/*', 'Accept-Encoding': 'br;q=1.0, gzip;q=0.8' } }

test('a caller without gzip gets the file uncompressed', async () => {
  for (const accepted of [undefined, 'br', 'gzip;q=0', 'identity']) {
    const headers = accepted === undefined ? {} : { 'Accept-Encoding': accepted }
    const answer = await send(handlerOf(), 'GET', file, { headers })
    expect(answer).toMatchObject({ status: 200, text: script, headers: { vary: 'Accept-Encoding' } })
    expect(answer.headers).not.toHaveProperty('content-encoding')
  }
})

test('a caller with gzip gets the file compressed', async () => {
  const { headers, body } = await answerTo(handlerOf(), requestOf('GET', file, compressed))
  expect(headers).toMatchObject({ 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' })
  expect(String(gunzipSync(body as Uint8Array))).toBe(script)
  expect(headers['Content-Length']).toBe(String((body as Uint8Array).length))
  expect((body as Uint8Array).length).toBeLessThan(script.length / 10)
})

test('the file comes uncompressed if the gateway cannot return bytes', async () => {
  const answer = await answerTo(handlerOf(), requestOf('GET', file, compressed))
  const bytes = await toGateway(answer, { accept: '*/*', binaryAccept: 'any' })
  expect(bytes).toMatchObject({ isBase64Encoded: true, headers: { 'Content-Encoding': 'gzip' } })
  const plain = await toGateway(answer, { accept: '*/*', binaryAccept: 'named' })
  expect(plain).toMatchObject({ isBase64Encoded: false, body: script })
  expect(plain.headers).not.toHaveProperty('Content-Encoding')
})

test.each(['meta.json', 'below', 'below%2Fdeep.txt'])('GET /console/%s answers 404', async (name) => {
  const { status, text } = await send(handlerOf(), 'GET', `/console/${name}`)
  expect({ status, text }).toEqual({ status: 404, text: expect.not.stringMatching(/deep"|ENO/) })
})

test.each([
  ['/a/b/', '/a/b/console'],
  ['/a/b', '/a/b/console'],
  ['/', '/console'],
])('the root of a service at %s redirects to %s', async (inContext, expected) => {
  const handler = openHandler.fields({ dataCentre: 'us' }, { sites } as Stores, { telemetry })
  const event = gatewayEvent('/', {
    multiValueHeaders: { Accept: ['text/html'] },
    requestContext: { path: inContext },
  })
  const request = fromGateway(event, 'encoded', AbortSignal.timeout(10_000), () => false)
  const { headers } = await answerTo(handler, request)
  expect(new URL(headers['Location'] ?? '', `https://us.example.com${inContext}`).pathname).toBe(expected)
})
