import { buffer } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { administerWith } from '../../support/administration.ts'
import { storesOver } from '../../support/every-operation.ts'
import { answerInPlaceOfAws } from '../../support/listen.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { stackAnswer } from '../../support/stack-answer.ts'

const [home, far] = [openMemoryTables(), openMemoryTables()]

/** Two regions. The buckets are empty. */
await answerInPlaceOfAws(async (request, response) => {
  const body = await buffer(request)
  const { 'x-amz-target': target, authorization = '' } = request.headers
  const { answerCall } = authorization.includes('/eu-west-1/') ? far : home
  if (target !== undefined) return answerCall(target, body, response)
  const isAboutStack = body.includes('Action=DescribeStacks')
  response.writeHead(200, { 'Content-Type': 'text/xml' }).end(isAboutStack ? stackAnswer() : '<Empty></Empty>')
}, afterAll)

const { sites } = storesOver(home.connect())
const url = 'https://example.com'
await sites.putDataCentre({ id: 'us', url, region: 'us-east-1', isDefault: true })
await sites.putDataCentre({ id: 'eu', url, region: 'eu-west-1', isDefault: false })
await sites.putDataCentre({ id: 'undeployed', url, isDefault: false })

const run = async (line: string) => {
  const { status, stdout, stderr } = await administerWith(['--target', 'aws', '--json', ...line.split(' ')])
  expect({ line, status, stderr }).toEqual({ line, status: 0, stderr: '' })
  return JSON.parse(stdout)
}

test.for([['of the same data centre', 'us', 2001]] as const)(
  'New sites at once do not get the id of a removed site %s (T-8)',
  async ([, home, highest]) => {
    await run(`site create --name Highest --id ${highest}`)
    await run(`site create --name Old --id ${highest + 2} --data-centre ${home}`)
    await run(`site remove ${highest + 2} --yes`)
    const created = await Promise.all(['One', 'Two'].map((name) => run(`site create --name ${name}`)))
    const ids = created.map(({ id }) => id).sort()
    for (const id of [highest, ...ids]) await run(`site remove ${id} --yes`)
    expect(ids).toEqual([highest + 1, highest + 3])
  },
)
