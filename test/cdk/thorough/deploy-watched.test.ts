import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../../support/directory.ts'
import { listenInTest } from '../../support/listen.ts'
import { messages } from '../../support/messages.ts'
import { launch } from '../../support/program.ts'

const alarms = ['A-1', 'B-2'].map((name) => `arn:aws:cloudwatch:us-east-1:123456789012:alarm:${name}`)

/** Simulates CloudFormation with the stack Test-us and its alarms. */
const cloudFormation = async (): Promise<string> => {
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const isKnown = new URLSearchParams(body).get('StackName') === 'Test-us'
    const output = `<member><OutputKey>RollbackAlarms</OutputKey><OutputValue>${alarms.join(' ')}</OutputValue></member>`
    const answer = isKnown
      ? `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${output}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`
      : '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>does not exist</Message></Error></ErrorResponse>'
    response.writeHead(isKnown ? 200 : 400, { 'Content-Type': 'text/xml' }).end(answer)
  })
  return listenInTest(server)
}

const dataCentres = { staging: { region: 'eu-west-1' }, us: { region: 'us-east-1' } }

interface Fault {
  /** The stack at which the fake `cdk` runs a command of the shell, and fails. */
  readonly failing?: string
  readonly command?: string
  readonly endpoint?: string
}

/** Runs the command with a fake `cdk` that records its arguments. */
const deployWatched = async (args: readonly string[], fault: Fault = {}) => {
  const { failing = 'none', command = ':', endpoint = await cloudFormation() } = fault
  const folder = scratchDirectory()
  const notes = join(folder, 'notes')
  writeFileSync(notes, '')
  writeFileSync(
    join(folder, 'cdk'),
    `#!/bin/sh\necho "$*" >> '${notes}'\n[ "$4" != ${failing} ] || { ${command}; exit 1; }\n`,
  )
  chmodSync(join(folder, 'cdk'), 0o755)
  const program = launch('tools/deployment/deploy-watched.ts', args, {
    PATH: `${folder}:${process.env['PATH']}`,
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  })
  program.stdin.end()
  const { status, stdout, stderr } = await program.ended
  return { status, stdout, stderr, calls: readFileSync(notes, 'utf8').split('\n').filter(Boolean) }
}

const context = (settings: object = {}) =>
  `siteAdmin=${JSON.stringify({ prefix: 'Test', dataCentres, defaultDataCentre: 'us', ...settings })}`

const deploy = 'deploy --app .cache/watched'
const stackOf = (call: string) => call.split(' ')[3]

test('the command builds once, then deploys the directory and each data centre', async () => {
  const { status, stdout, calls } = await deployWatched(['-c', context(), '--minutes', '20'])
  expect(status).toBe(0)
  const triggers = alarms.map((alarm) => `--rollback-trigger-alarm-arns ${alarm}`).join(' ')
  expect(calls).toEqual([
    `synth --quiet --output .cache/watched --context ${context()}`,
    `${deploy} Test-directory`,
    // The first deployment has no alarms.
    `${deploy} Test-staging --exclusively`,
    `${deploy} Test-us --exclusively ${triggers} --monitoring-time-minutes 20`,
  ])
  expect(stdout).toContain('Test-staging has no alarms yet')
  expect(stdout).toContain('Test-us: CloudFormation watches 2 alarms until 20 minutes after')
})

test('after a rollback, the command does not deploy later data centres', async () => {
  const { status, stderr, calls } = await deployWatched(['-c', context()], { failing: 'Test-staging' })
  expect(status).toBe(1)
  expect(calls.slice(1).map(stackOf)).toEqual(['Test-directory', 'Test-staging'])
  expect(stderr).toMatch(messages.deployment.notUpdated('eu-west-1', 'Test-staging', 'Test-us'))
})

test('after Ctrl+C, the command says how to roll the running deployment back', async () => {
  const { status, stderr, calls } = await deployWatched(['-c', context()], {
    failing: 'Test-staging',
    command: 'kill -INT $PPID',
  })
  expect(status).toBe(1)
  expect(calls.at(-1)).toContain('Test-staging')
  expect(stderr).toMatch(messages.deployment.notUpdated('eu-west-1', 'Test-staging', 'Test-us'))
})

test.each<[string, string[], number, RegExp]>([
  ['too many minutes', ['--minutes', '181'], 1, messages.deployment.minutes],
  ['a text for the minutes', ['--minutes', '1m'], 1, messages.deployment.minutes],
  ['an unknown flag', ['--minute', '1'], 2, /^Unknown option '--minute'\.\nUsage: /],
  ['a wrong setting', ['-c', 'siteAdmin={'], 1, /^The settings of the app are wrong/],
])('the command refuses %s before it deploys', async (_, args, wanted, message) => {
  const { status, stderr, calls } = await deployWatched(args)
  expect([status, calls]).toEqual([wanted, []])
  expect(stderr).toMatch(message)
})

test('the command ends before it deploys if CloudFormation does not answer', async () => {
  const { status, stderr, calls } = await deployWatched(['-c', context()], { endpoint: 'http://127.0.0.1:1' })
  expect([status, calls]).toEqual([1, []])
  expect(stderr).toMatch(/^CloudFormation in \S+ does not answer\./)
})

test('the command prints its usage', async () => {
  const { status, stdout, calls } = await deployWatched(['--help'])
  expect([status, stdout, calls]).toEqual([0, expect.stringMatching(/^Usage: npm run deploy:watched/), []])
})

test('the command deploys directory and edge first, and the watch stack last', async () => {
  const settings = { webApplicationFirewall: true, dataCentres: { us: { region: 'us-east-1', streaming: true } } }
  const { calls } = await deployWatched(['-c', context(settings)])
  expect(calls[1]).toBe(`${deploy} Test-directory Test-edge`)
  expect(calls.at(-1)).toBe(`${deploy} Test-watch --exclusively`)
})
