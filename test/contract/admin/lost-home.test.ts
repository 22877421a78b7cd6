import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { administerWith } from '../../support/administration.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { answerInPlaceOfAws } from '../../support/listen.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { messages } from '../../support/messages.ts'
import { openTableStores } from '../../support/tables.ts'

const site = 1001 as SiteId
const token = newToken()
const asked: string[] = []

const { names, connect, answerCall } = openMemoryTables()

/** One region with a replica of the directory. No stack can be read, because the region of the stack is lost. */
await answerInPlaceOfAws(async (request, response) => {
  const { headers } = request
  const target = headers['x-amz-target']
  const [, region = ''] = /Credential=[^/]+\/\d+\/([^/]+)\//.exec(headers.authorization ?? '') ?? []
  asked.push(`${target ? 'table' : 'stack'} in ${region}`)
  const body = await text(request)
  if (!target) {
    response.writeHead(403, { 'Content-Type': 'text/xml' })
    response.end('<ErrorResponse><Error><Code>AccessDenied</Code><Message>lost</Message></Error></ErrorResponse>')
  } else if (body.includes('"SiteAdmin-')) {
    answerCall(target, Buffer.from(body.replaceAll('"SiteAdmin-', '"')), response)
  } else {
    response.writeHead(400).end(JSON.stringify({ __type: 'ResourceNotFoundException' }))
  }
}, afterAll)

const administerIn = (...args: readonly string[]) => administerWith(['--target', 'aws', '--json', ...args])

const { sites, grants } = openTableStores(names, { dynamodb: connect(), record: unrecorded })
await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', region: 'us-east-1', isDefault: true })
await sites.createSite({ id: site, name: 'Shop', dataCentre: 'us', renderingEngine: true }, entry)
await grants.put({ hash: hashToken(token), user: 'ann', sites: [site], permissions: [], expires: 4_000_000_000 }, [])

test('--directory-region must name a region with a copy of the directory (T-61)', async () => {
  const list = (...options: readonly string[]) => administerIn(...options, 'token', 'list')
  const { status, stderr } = await list('--stack-prefix', 'Other', '--directory-region', 'eu-west-1')
  const reason = expect.stringMatching(messages.aws.noTables('Other', 'eu-west-1'))
  expect([status, JSON.parse(stderr).message]).toEqual([1, reason])
  expect((await list('--directory-region', 'europe')).status).toBe(2)
})

test('--directory-region lets a command revoke a token in a replica (T-61, A-13)', async () => {
  asked.length = 0
  expect(await administerIn('--directory-region', 'eu-west-1', 'token', 'list')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(hashToken(token)),
  })
  expect(new Set(asked)).toEqual(new Set(['table in eu-west-1']))
  // The history is in the lost region. The command says so, and succeeds.
  const revoked = await administerIn('--directory-region', 'eu-west-1', 'token', 'revoke', token)
  expect(revoked).toMatchObject({ status: 0, stderr: expect.stringContaining('The history lacks a change') })
  expect(JSON.parse((await administerIn('--directory-region', 'eu-west-1', 'token', 'list')).stdout)).toEqual([])
})
