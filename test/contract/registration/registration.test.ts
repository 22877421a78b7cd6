import { createServer, type RequestListener } from 'node:http'
import { buffer, json } from 'node:stream/consumers'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createSiteDirectory } from '../../../lib/aws/dynamodb/directory-stores.ts'
import { unrecorded } from '../../support/history.ts'
import { answerInPlaceOfAws, listenInTest } from '../../support/listen.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'

const { connect, answerCall } = openMemoryTables()
await answerInPlaceOfAws(async (request, response) => {
  answerCall(request.headers['x-amz-target'], await buffer(request), response)
}, afterAll)
vi.stubEnv('SITES_TABLE', 'sites').stubEnv('DIRECTORY_REGION', 'us-east-1')

// The function reads its settings when it loads.
const load = () => import('../../../functions/entries/registration.ts')

/** Listens in place of CloudFormation. Returns the address. */
const waitAs = async (listener: RequestListener): Promise<string> => {
  const url = await listenInTest(createServer(listener))
  return `${url}/answer?signature=secret`
}

const answer = {
  Status: 'SUCCESS' as const,
  PhysicalResourceId: 'dc#us',
  StackId: 'stack',
  RequestId: 'request',
  LogicalResourceId: 'DataCentreRegistration',
}

test('the answer has no content type, because the signed URL has none', async () => {
  const received: unknown[] = []
  const { answerDeployment } = await load()
  const url = await waitAs(async (request, response) => {
    received.push([request.method, request.headers['content-type'], await json(request)])
    response.end()
  })
  await answerDeployment(url, answer)
  expect(received).toEqual([['PUT', '', answer]])
})

test('if the answer is refused, the function fails without logging the URL', async () => {
  const { answerDeployment } = await load()
  const url = await waitAs((_, response) => response.writeHead(403).end())
  const failure = await answerDeployment(url, answer).catch((error: unknown) => String(error))
  expect(failure).toMatch(/status 403/)
  expect(failure).not.toMatch(/secret/)
})

test('if no response comes, the function fails', async () => {
  const { answerDeployment } = await load()
  const url = await waitAs(() => undefined)
  await expect(answerDeployment(url, answer, 50)).rejects.toThrow(/timeout/)
})

describe('the function that registers a data centre', () => {
  const registered = {
    ServiceToken: 'function',
    id: 'us',
    url: 'https://us.example.com',
    region: 'us-east-1',
    isDefault: 'true',
  }

  /** The answer to CloudFormation for a resource with these properties. */
  const register = async (properties: object): Promise<unknown> => {
    const received: unknown[] = []
    const ResponseURL = await waitAs(async (request, response) => {
      received.push(await json(request))
      response.end()
    })
    const { handler } = await load()
    const event = { RequestType: 'Create', ResponseURL, StackId: 'stack', RequestId: 'request' }
    const resource = { LogicalResourceId: 'DataCentreRegistration', ResourceProperties: properties }
    const whole = { ...event, ...resource } as CloudFormationCustomResourceEvent
    await handler(whole, { logStreamName: 'stream' } as Parameters<typeof handler>[1])
    return received[0]
  }

  test('the function writes the data centre into the directory, and reports success', async () => {
    expect(await register(registered)).toEqual(answer)
    const sites = createSiteDirectory({ dynamodb: connect(), table: 'sites', record: unrecorded })
    const { dataCentres } = await sites.list()
    expect(dataCentres).toEqual([{ id: 'us', url: 'https://us.example.com', region: 'us-east-1', isDefault: true }])
  })

  test('a failed registration reports the fault, and the log with more details', async () => {
    expect(await register({ ...registered, url: 'nowhere' })).toMatchObject({
      Status: 'FAILED',
      Reason: expect.stringMatching(/url.*log stream stream/s),
    })
  })
})
