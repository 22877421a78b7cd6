import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, expect, test, vi } from 'vitest'
import { scratchDirectory } from '../../support/directory.ts'
import { listenInTest } from '../../support/listen.ts'
import { hostHere } from '../../support/serve-here.ts'

const asked: string[] = []
const service = await hostHere(scratchDirectory(afterAll), {
  telemetry: { request: ({ method, operation, status }) => void asked.push(`${method} ${operation} ${status}`) },
})
const canaryToken = service.token
vi.stubEnv('BASE_URL', service.baseUrl).stubEnv('CANARY_TOKEN', canaryToken)
const { handler, useService } = await import('../../../functions/entries/canary.ts')
afterAll(async () => {
  vi.unstubAllEnvs()
  await service.stop()
})

/** A proxy that breaks one kind of request. Returns its address. */
const breaking = async (method: string, path: RegExp, answer: (body: Buffer) => [status: number, body: Buffer]) => {
  const server = createServer(async (request, response) => {
    const { method: sent = '', url = '', headers } = request
    const body = await buffer(request)
    const { authorization = '', 'content-type': type = '' } = headers
    const real = await fetch(service.baseUrl + url, {
      method: sent,
      headers: { Authorization: authorization, 'Content-Type': type },
      body: body.length > 0 ? new Uint8Array(body) : null,
    })
    const received = Buffer.from(await real.arrayBuffer())
    const [status, bytes] = sent === method && path.test(url) ? answer(received) : [real.status, received]
    response.writeHead(status).end(bytes)
  })
  return listenInTest(server)
}

test('The canary stores, reads and removes a file, and changes a field', async () => {
  asked.length = 0
  await handler()
  expect(asked).toEqual([
    'PUT putPath 200',
    'GET readPath 200',
    'DELETE deletePath 200',
    'GET listWebForms 200',
    expect.stringMatching(/^DELETE deleteField (404|200)$/),
    'POST createField 201',
    'PUT updateField 200',
    'DELETE deleteField 200',
  ])
})

test.each([
  ['PUT', /canary\.txt/],
  ['GET', /canary\.txt/],
  ['DELETE', /canary\.txt/],
  ['POST', /fields/],
  ['PUT', /fields/],
  ['DELETE', /fields/],
])('if the canary fails, the error names the request and the answer: %s %s', async (method, path) => {
  const baseUrl = await breaking(method, path, () => [503, Buffer.from('{"code":100503}')])
  const failure = await useService({ baseUrl, canaryToken }).catch(String)
  expect(failure).toMatch(new RegExp(`${method} /api/.*${path.source}.* answered 503: .*100503`))
  // The next run succeeds, whatever this run has left behind.
  await handler()
})

test('The canary fails if a file is returned with other bytes', async () => {
  const baseUrl = await breaking('GET', /canary\.txt/, () => [200, Buffer.from('something else')])
  await expect(useService({ baseUrl, canaryToken })).rejects.toThrow('did not return the bytes that were stored')
})

test('The canary of a site without a form says how to create one', async () => {
  const baseUrl = await breaking('GET', /\/webforms$/, () => [200, Buffer.from('{"items": []}')])
  await expect(useService({ baseUrl, canaryToken })).rejects.toThrow(/no web form.*site-admin form create/)
})

test('The canary fails with an expired token', async () => {
  const old = 'f'.repeat(64)
  await expect(useService({ baseUrl: service.baseUrl, canaryToken: old })).rejects.toThrow(/PUT .* 401: .*101000/)
})
