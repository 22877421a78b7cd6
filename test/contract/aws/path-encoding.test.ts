import { describe, expect, test } from 'vitest'
import { fromGateway, lambdaHandler, type PathEncoding } from '../../../lib/aws/lambda/gateway.ts'
import { statusAndCode } from '../../support/answer.ts'
import { baseUrls, distantSite, openFieldsService, ownSite } from '../../support/fields-service.ts'
import { gatewayEvent, sendEvent } from '../../support/lambda.ts'

const service = await openFieldsService()
const token = await service.issueToken({ sites: [ownSite] })

const sites = '/api/v1/admin/sites'

/** The path as each kind of gateway passes it on. */
const handOver: Readonly<Record<PathEncoding, (written: string) => string>> = {
  encoded: (written) => written,
  decoded: decodeURIComponent,
}

const get = (encoding: PathEncoding, written: string, headers: Record<string, string> = { Authorization: token }) => {
  const handler = lambdaHandler(service.start().handler, { pathEncoding: encoding })
  return sendEvent(handler, 'GET', handOver[encoding](written), { headers })
}

describe.each<PathEncoding>(['encoded', 'decoded'])('a gateway that passes paths %s', (encoding) => {
  test.each<[string, number]>([
    [`${sites}/current/webforms`, 200],
    [`${sites}/%63urrent/webforms`, 200],
    [`${sites}/current/webform%73`, encoding === 'decoded' ? 200 : 404],
    [`${sites}/current/webforms/1%2523`, 404],
    // Decoded once, this is the name %63urrent, which is not a site.
    [`${sites}/%2563urrent/webforms`, 400],
    [`${sites}/caf%C3%A9/webforms`, 400],
    [`${sites}/%F0%9F%98%80/webforms`, 400],
  ])('GET of %s is answered with %i', async (written, status) => {
    expect((await get(encoding, written)).status).toBe(status)
  })

  test('a redirect keeps a percent sign in a name', async () => {
    const other = await service.issueToken({ sites: [distantSite] })
    const { status, headers } = await get(encoding, `${sites}/${distantSite}/webforms/100%25`, { Authorization: other })
    expect({ status, location: headers['location'] }).toEqual({
      status: 301,
      location: `${baseUrls.eu}${sites}/${distantSite}/webforms/100%25`,
    })
  })

  test('a path with half a UTF-8 character is refused, and the function keeps running', async () => {
    const handler = lambdaHandler(service.start().handler, { pathEncoding: encoding })
    const { status } = await sendEvent(handler, 'GET', `${sites}/\ud800/webforms`, {
      headers: { Authorization: token },
    })
    expect(status).toBe(400)
  })
})

test.each([
  // A gateway may remove slashes at the beginning.
  ['/health', '/live//health', '//health'],
  ['//health', '/live//health', '//health'],
  // The name of the stage is not part of the path.
  ['/health', '/live/health', '/health'],
  ['/', '/live/', '/'],
  ['/live/health', '/live/live/health', '/live/health'],
])('the path %s, which is %s in the context, is read as %s', (path, inContext, expected) => {
  const event = gatewayEvent(path, { requestContext: { path: inContext } })
  expect(fromGateway(event, 'encoded', AbortSignal.timeout(1000), () => false).path).toBe(expected)
})

test.each([
  ['encoded', 'is part of a name', 115001],
  ['decoded', 'means /', 100004],
] as const)('if the gateway passes paths %s, %%2F %s', async (encoding, _, code) => {
  const answer = await get(encoding, `${sites}/current/webforms/1%2F/fields/system`)
  expect(statusAndCode(answer)).toEqual([404, code])
})
