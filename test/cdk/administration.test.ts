import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createProgram } from '../../admin/program.ts'
import { administrationFileGrants, administrationGrants } from '../../cdk/config/grants.ts'
import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { administer } from '../support/administration.ts'
import { actionsNeededFor } from '../support/cloud-requests.ts'
import { openDynalite } from '../support/dynalite.ts'
import { storesOver } from '../support/every-operation.ts'
import { stackAnswer } from '../support/stack-answer.ts'
import { createTables } from '../support/tables.ts'
import { type Call, callsIn, linesOf } from './support/record-calls.ts'
import { templatesOf } from './support/synthesise.ts'

const { directory, us } = templatesOf()

/** A bucket with one file, with the calls that the commands use. */
const openBucket = () => {
  let isThere = true
  const file =
    '<Contents><Key>live/1001/a.txt</Key><Size>1</Size><ETag>"a"</ETag><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>'
  return (method: string, query: URLSearchParams): string => {
    if (query.has('versions')) return '<ListVersionsResult><IsTruncated>false</IsTruncated></ListVersionsResult>'
    if (method !== 'GET') {
      isThere = false
      return '<DeleteResult></DeleteResult>'
    }
    const found = isThere && query.get('prefix')?.startsWith('live/') ? file : ''
    return `<ListBucketResult><IsTruncated>false</IsTruncated>${found}</ListBucketResult>`
  }
}

const folder = mkdtempSync(join(tmpdir(), 'site-admin-administration-'))
const records = join(folder, 'records')
const exported = join(folder, 'exported')

const lines = [
  { kind: 'webForm', id: 1, name: 'Contact' },
  { kind: 'field', webFormId: 1, typeId: -7, name: 'City', mandatory: true, order: 1 },
  { kind: 'category', id: 1, name: 'News' },
  { kind: 'news', id: 36, subject: 'Open', body: '<p>Come in.</p>' },
  { kind: 'blog', id: 37 },
  { kind: 'link', type: 'news', categoryId: 1, objectId: 36 },
]

/** Every command that works on AWS, in an order that gives each something to do. */
const commandLines = [
  'data-centre add us --url https://us.example.com',
  'data-centre list',
  'site create --name Shop',
  'site list',
  'site show 1001',
  'token issue --user ann --site 1001 --permission files',
  'token list',
  'token revoke {hash}',
  'form create --site 1001 --name Contact',
  'form create --site 1001 --name Survey',
  'form list --site 1001',
  'form rename 2 --site 1001 --name Questions',
  'form remove 2 --site 1001 --yes',
  'category create --site 1001 --name News',
  'category list --site 1001',
  `import ${records} --site 1001`,
  `import ${records} --site 1001`,
  `export --site 1001 --out ${exported}`,
  'category rename 1 --site 1001 --name Press',
  'category remove 1 --site 1001 --dry-run',
  'category remove 1 --site 1001 --yes',
  'object create blog --site 1001',
  'object list news --site 1001',
  'object show news 36 --site 1001',
  'object remove news 36 --site 1001 --yes',
  'workflow start index.html --site 1001',
  'workflow list --site 1001',
  'workflow end index.html --site 1001',
  'workflow start index.html --site 1001',
  'site rename 1001 --name Market',
  'site remove 1001 --dry-run',
  'site remove 1001 --yes',
  'audit --site 1001 --since 1d',
].map((line) => line.split(' '))

/** The commands without subcommands, as people type them. */
const leavesOf = (command: Command, names: readonly string[] = []): readonly string[] =>
  command.commands.length === 0
    ? [names.join(' ')]
    : command.commands.flatMap((child) => leavesOf(child, [...names, child.name()]))

/** These commands have no `--target aws`. */
const ofOneMachine: ReadonlySet<string> = new Set(['serve', 'backup', 'restore', 'check', 'completion'])

describe('the policy of an administrator', () => {
  const calls: Call[] = []
  const actions = new Set<string>()
  /** Replaces AWS at the transport of the SDK: dynalite has the tables, and the stacks are simulated. */
  const askBucket = openBucket()
  const { server } = openDynalite((headers, body, response, { method = '', url = '' }) => {
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') ?? false
    const action = isForm ? new URLSearchParams(body.toString()).get('Action') : null
    if (action === null && headers['x-amz-target'] === undefined) {
      const query = new URLSearchParams(url.split('?')[1] ?? '')
      const request = { method, parameters: [...query.keys()], headers: Object.keys(headers), target: null }
      for (const needed of actionsNeededFor(request)) actions.add(needed)
      response.writeHead(200, { 'Content-Type': 'application/xml' }).end(askBucket(method, query))
      return true
    }
    if (action === null) {
      calls.push(...callsIn({ headers, body }))
      return false
    }
    actions.add(`cloudformation:${action}`)
    response.writeHead(200, { 'Content-Type': 'text/xml' }).end(stackAnswer())
    return true
  })

  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const environment = {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    }
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    const dynamodb = createDocumentClient()
    await createTables(dynamodb, '')
    // As a deployment registers it.
    const { sites, grants } = storesOver(dynamodb)
    await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', region: 'us-east-1', isDefault: true })
    // Expired tokens: removing their site does not wait for caches.
    const expired = { user: 'ann', permissions: [], expires: 1 }
    await grants.put({ ...expired, hash: 'a', sites: [1001 as SiteId] }, [])
    await grants.put({ ...expired, hash: 'b', sites: [1001, 1002] as SiteId[] }, [])
    dynamodb.destroy()
    writeFileSync(records, lines.map((line) => JSON.stringify(line)).join('\n'))
    calls.length = 0
  })

  afterAll(() => {
    vi.unstubAllEnvs()
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('allows what the commands send, and nothing else (T-2)', async () => {
    let printed = ''
    const hash = () => /"hash":"(\w{64})"/.exec(printed)?.[1] ?? ''
    for (const words of commandLines) {
      const args = ['--target', 'aws', '--json', ...words.map((word) => (word === '{hash}' ? hash() : word))]
      const { status, stdout } = await administer(folder, args)
      printed = stdout || printed
      expect([status, printed]).toEqual([0, expect.not.stringMatching('"errors":\\[{')])
    }
    // The last command lists the changes of all others, including the directory.
    const told: readonly { readonly type: string }[] = JSON.parse(printed)
    expect(told.map(({ type }) => type)).toEqual([
      ...['site.created', 'token.created', 'token.removed'],
      ...['form.created', 'form.created', 'form.changed', 'form.removed', 'category.created'],
      // The form and the category exist already. The second run changes nothing.
      ...['content.imported', 'content.imported', 'content.imported', 'link.added'],
      ...['category.changed', 'category.removed', 'object.created', 'object.removed'],
      ...['workflow.created', 'workflow.removed', 'workflow.created', 'site.changed'],
      ...['token.changed', 'token.removed', 'site.removed'],
    ])
    expect(
      readFileSync(exported, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject(lines)
    const granted = administrationGrants.flatMap(({ actions: names, ...place }) =>
      names.map((action) => ({ ...place, action })),
    )
    expect(linesOf(granted)).toEqual(linesOf(calls))
    const { bucket, objects } = administrationFileGrants
    const onFiles = [...bucket, ...objects].map((action) => `s3:${action}`)
    expect([...actions].sort()).toEqual(['cloudformation:DescribeStacks', ...onFiles].sort())
  })

  test('is compared with every command except those for one machine', () => {
    const tried = new Set(commandLines.map((words) => words.join(' ')))
    const leaves = leavesOf(createProgram()).filter((leaf) => !ofOneMachine.has(leaf))
    expect(leaves.filter((leaf) => ![...tried].some((line) => line.startsWith(`${leaf} `) || line === leaf))).toEqual(
      [],
    )
  })

  test('is part of each stack, covers its own tables, and has an output with its name', () => {
    const resources = (template: typeof us) =>
      Object.values(template.findResources('AWS::IAM::ManagedPolicy')).map(({ Properties }) =>
        JSON.stringify(Properties.PolicyDocument.Statement),
      )
    expect(resources(directory)).toEqual([expect.stringMatching(/Test-sites.*Test-tokens.*AWS::StackId/)])
    expect(resources(us)).toEqual([expect.stringMatching(/WebFormsTable.*PathLocksTable.*AWS::StackId/)])
    for (const template of [directory, us]) template.hasOutput('AdministrationPolicy', {})
  })
})
