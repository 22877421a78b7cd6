import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Command } from 'commander'
import { afterEach, expect, vi } from 'vitest'
import { createProgram } from '../../../admin/program.ts'
import { administer, administerWith } from '../../support/administration.ts'
import { leavesOf } from '../../support/command-session.ts'
import { closeAtOnce, listen } from '../../support/listen.ts'
import { messages, wrongCommands } from '../../support/messages.ts'
import { failing } from '../../support/outcomes.ts'
import { test } from '../../support/test.ts'

const records = '{"kind":"webForm","id":1}\n'

test.for([
  ['site list', 'id    name  dataCentre  renderingEngine\n1001  Shop  us          true\n'],
  ['form create --site 1001 --name Contact', 'id  name\n1   Contact\n'],
  ['token list', '(none)\n'],
  ['import - --site 1001', 'imported  skipped\n1         0\n'],
  [
    'import - --site 1001',
    'imported  skipped\n1         1\n\nrecords  lines  message\n1        2      it is not an object\n',
    `${records}7\n`,
  ],
] as const)('%s prints a table (T-3, T-14)', async ([command, table, input = records], { commands: { attempt } }) => {
  expect(await attempt(command, input)).toMatchObject({ stdout: table, stderr: '' })
})

test('object show prints one member per row for people (T-14)', async ({ commands: { run, attempt } }) => {
  await run('import - --site 1001', '{"kind":"news","id":1,"subject":"One"}')
  const { stdout } = await attempt('object show news 1 --site 1001')
  expect(stdout).toMatch(/^member +value\nid +1\n[\s\S]*\nsubject +One\n/)
})

/** The words of a line, split in the way of a shell. */
const wordsOf = (line: string): string[] =>
  [...line.replace(/ >+ .*/, '').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  )

/** Commands with subcommands are in the list too. */
const commandsOf = (program: Command): readonly (readonly [string, Command])[] => [
  ...program.commands.flatMap((group) => (group.commands.length > 0 ? [[group.name(), group] as const] : [])),
  ...leavesOf(program),
]

test.for(commandsOf(createProgram()))('the help has the common options and a right example: %s', ([name, command]) => {
  const help: string[] = []
  command.configureOutput({ writeOut: (text) => help.push(text) }).outputHelp()
  const [options, examples = ''] = help.join('').split('\nExample:\n')
  for (const common of ['--data-dir <path>', '--json ']) expect(options).toContain(common)
  const lines = examples
    .trim()
    .split('\n')
    .map((line) => line.trim())
  for (const line of lines) {
    expect(line).toMatch(/^site-admin /)
    const program = createProgram()
    const done: string[] = []
    for (const [own, leaf] of leavesOf(program)) leaf.action(() => void done.push(own))
    program.parse(wordsOf(line).slice(1), { from: 'user' })
    expect(done).toEqual([expect.stringMatching(new RegExp(`^${name}( |$)`))])
  }
})

test('--version prints the version of the package (T-19)', async ({ directory }) => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'))
  expect(await administer(directory, ['--version'])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' })
})

test('wrong commands end with status 2 and a message, and change nothing (T-4)', async ({ directory }) => {
  for (const [line, complaint] of wrongCommands) {
    const stderr = expect.stringContaining(complaint)
    const outcome = await administer(directory, ['--json', ...line.split(' ')])
    expect({ line, ...outcome }).toEqual({ line, status: 2, stdout: '', stderr })
  }
  expect(await readdir(directory)).toEqual([])
})

test.for([
  [['sh\n\u001b[2Jow']],
  [['site', 'list', '--da\n\u001b[2Jta-dir', 'x']],
  [['import', 'file\n\u001b[2J', '--site', '1001']],
  [['--data-dir', 'x\n\u001b[2J', 'site', 'list']],
] as const)('the refusal of %j contains only printable characters', async ([args], { siteDirectory }) => {
  const { status, stderr } = await administer(siteDirectory, args)
  expect(status).toBeGreaterThan(0)
  const [first, ...rest] = stderr.split('\n')
  expect(first).toMatch(/^\P{Cc}*\\u\{a\}\\u\{1b\}\[2J\P{Cc}*$/u)
  const advice = [messages.usage.help, '']
  expect(rest).toEqual(status === 2 ? advice : [''])
})

afterEach(() => void vi.unstubAllEnvs())

const nobody = { HOME: '/', AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null', AWS_PROFILE: '' }
const nowhere = { AWS_REGION: '', AWS_DEFAULT_REGION: '', AWS_ENDPOINT_URL: 'http://127.0.0.1:9' }
const keys = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
const noKeys = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_EC2_METADATA_DISABLED: 'true' }
const inCopy = ['--directory-region', 'eu-west-1'] as const

test.for([
  ['when no region is set', {}, messages.aws.noRegion('http://127.0.0.1:9')],
  ['when no server answers', keys, messages.aws.noAnswer('http://127.0.0.1:9, us-east-1')],
  ['when no copy answers', keys, messages.aws.noAnswer('http://127.0.0.1:9, eu-west-1', ''), ...inCopy],
  ['with a wrong URL', { AWS_REGION: 'us-east-1', AWS_ENDPOINT_URL: 'here' }, messages.aws.noUrl('here, us-east-1')],
  ['without credentials', { AWS_REGION: 'us-east-1' }, messages.aws.noCredentials('http://127.0.0.1:9, us-east-1')],
  ['when the server refuses', { ...keys, AWS_ENDPOINT_URL: 'SERVER' }, messages.aws.refused('Not you')],
] as const)(
  'a command prints one line with the reason %s',
  async ([, environment, reason, ...options], { onTestFinished }) => {
    const answer = '<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not you.</Message></Error></ErrorResponse>'
    const server = createServer((_, response) => response.writeHead(403, { 'Content-Type': 'text/xml' }).end(answer))
    const url = await listen(server)
    onTestFinished(() => closeAtOnce(server))
    const values: Readonly<Record<string, string>> = { ...nobody, ...nowhere, ...noKeys, ...environment }
    for (const [name, value] of Object.entries(values)) vi.stubEnv(name, value === 'SERVER' ? url : value)
    const outcome = await administerWith(['--target', 'aws', ...options, 'site', 'list'])
    expect(outcome).toEqual(failing(reason))
  },
)

test.for([
  ['site show 7', 1],
  ['site nope', 2],
] as const)('with --json, the refusal of %s is one object (T-55)', async ([line, status], { commands }) => {
  const { stderr, ...outcome } = await commands.attempt(`--json ${line}`)
  expect(outcome).toEqual({ status, stdout: '' })
  expect(JSON.parse(stderr)).toEqual({ code: null, message: expect.stringMatching(/\S/), path: null })
})
