import { buffer } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { administerWith } from '../../support/administration.ts'
import { storesOver } from '../../support/every-operation.ts'
import { answerInPlaceOfAws } from '../../support/listen.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { stackAnswer } from '../../support/stack-answer.ts'

const home = openMemoryTables()

/** Refuses every call to another region than that of the new sites. The bucket is empty. */
await answerInPlaceOfAws(async (request, response) => {
  const body = await buffer(request)
  const { 'x-amz-target': target, authorization = '' } = request.headers
  if (authorization.includes('/eu-west-1/')) return response.writeHead(403).end()
  if (target !== undefined) return home.answerCall(target, body, response)
  const isAboutStack = body.includes('Action=DescribeStacks')
  response.writeHead(200, { 'Content-Type': 'text/xml' }).end(isAboutStack ? stackAnswer() : '<Empty></Empty>')
}, afterAll)

const { sites } = storesOver(home.connect())
const url = 'https://example.com'
await sites.putDataCentre({ id: 'us', url, region: 'us-east-1', isDefault: true })
await sites.putDataCentre({ id: 'eu', url, region: 'eu-west-1', isDefault: false })

const run = async (line: string) => {
  const { status, stdout, stderr } = await administerWith(['--target', 'aws', '--json', ...line.split(' ')])
  expect({ line, status, stderr }).toEqual({ line, status: 0, stderr: '' })
  return JSON.parse(stdout)
}

test('New sites at once do not get the id of a removed site (T-8)', async () => {
  await run('site create --name Highest --id 2001')
  await run('site create --name Old --id 2003')
  await run('site remove 2003 --yes')
  const created = await Promise.all(['One', 'Two'].map((name) => run(`site create --name ${name}`)))
  expect(created.map(({ id }) => id).sort()).toEqual([2002, 2004])
})
