import { expect, test } from 'vitest'
import { administerWith } from '../../support/administration.ts'
import { unrecorded } from '../../support/history.ts'
import { answerInPlaceOfAws } from '../../support/listen.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { phrase } from '../../support/messages.ts'
import { stackAnswer } from '../../support/stack-answer.ts'
import { openTableStores } from '../../support/tables.ts'

const noBucket = phrase`^The bucket of the data centre does not exist. … docs/recovery.md … (Stacks: …)$`
const privateTarget = phrase`^AWS cannot reach a private target. Leave out --allow-private-webhooks.$`
const lostBucket = '<Error><Code>NoSuchBucket</Code></Error>'

/** A deployment with one data centre, which has lost its bucket. */
const startDeployment = async () => {
  const { names, connect, answerCall } = openMemoryTables()
  const stacks: string[] = []
  await answerInPlaceOfAws(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const target = request.headers['x-amz-target']
    if (target !== undefined) return answerCall(target, body, response)
    const stack = new URLSearchParams(body.toString()).get('StackName')
    if (stack === null) return response.writeHead(404, { 'Content-Type': 'application/xml' }).end(lostBucket)
    stacks.push(stack)
    response.end(stackAnswer())
  })
  const { sites } = openTableStores(names, { dynamodb: connect(), record: unrecorded })
  await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', region: 'us-east-1', isDefault: true })
  return { stacks, run: (...args: readonly string[]) => administerWith(['--target', 'aws', '--json', ...args]) }
}

test('a command reads each stack once, however many sites it changes (T-2)', async () => {
  const { stacks, run } = await startDeployment()
  for (const id of ['1001', '1002']) await run('site', 'create', '--id', id, '--name', 'Shop')
  stacks.length = 0
  const { status } = await run('user', 'add', 'ann', '--site', '1001', '--site', '1002', '--role', 'owner')
  expect([status, stacks]).toEqual([0, ['SiteAdmin-directory', 'SiteAdmin-us']])
  const { stdout } = await run('audit', '--site', '1002')
  expect(JSON.parse(stdout).map(({ type }: { type: string }) => type)).toEqual(['site.created', 'user.created'])
})

test('site show without its bucket says that it counted no kept versions (T-57)', async () => {
  const { run } = await startDeployment()
  await run('site', 'create', '--id', '1001', '--name', 'Shop')
  const { status, stdout, stderr } = await run('site', 'show', '1001')
  expect([status, JSON.parse(stdout)]).toMatchObject([0, { name: 'Shop', keptVersions: null, keptBytes: null }])
  expect(stderr).toMatch(phrase`^The replaced and removed files could not be counted. The bucket … docs/recovery.md …$`)
})

test.for([
  ['create', '--url', 'http://127.0.0.1/'],
  ['change', 'ID', '--url', 'http://127.0.0.1/'],
  ['test', 'ID'],
  ['repeat', 'ID', 'DELIVERY'],
])('webhook %s refuses a private target for AWS (V-14, V-31)', async (command) => {
  const { stacks, run } = await startDeployment()
  const { status, stderr } = await run('webhook', ...command, '--site', '1001', '--allow-private-webhooks')
  expect([status, JSON.parse(stderr).message, stacks]).toEqual([1, expect.stringMatching(privateTarget), []])
})

test('a command without its bucket names the page about recovery', async () => {
  const { run } = await startDeployment()
  await run('site', 'create', '--id', '1001', '--name', 'Shop')
  const { status, stderr } = await run('site', 'remove', '1001', '--dry-run')
  expect([status, JSON.parse(stderr).message]).toEqual([1, expect.stringMatching(noBucket)])
})
