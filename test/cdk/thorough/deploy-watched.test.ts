import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../../support/directory.ts'
import { listenInTest } from '../../support/listen.ts'
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

/** Runs the command with a fake `cdk` that records its arguments, and fails at the given stack. */
const deployWatched = async (args: readonly string[], failing = 'none') => {
  const folder = scratchDirectory()
  const notes = join(folder, 'notes')
  writeFileSync(notes, '')
  writeFileSync(join(folder, 'cdk'), `#!/bin/sh\necho "$*" >> '${notes}'\n[ "$2" != ${failing} ]\n`)
  chmodSync(join(folder, 'cdk'), 0o755)
  const program = launch('tools/deployment/deploy-watched.ts', args, {
    PATH: `${folder}:${process.env['PATH']}`,
    AWS_ENDPOINT_URL: await cloudFormation(),
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  })
  program.stdin.end()
  const { status, stdout, stderr } = await program.ended
  return { status, stdout, stderr, calls: readFileSync(notes, 'utf8').split('\n').filter(Boolean) }
}

const context = (settings: object = {}) =>
  `siteAdmin=${JSON.stringify({ prefix: 'Test', dataCentres, defaultDataCentre: 'us', ...settings })}`

test('the command deploys the directory first, then each data centre with its alarms', async () => {
  const { status, stdout, calls } = await deployWatched(['-c', context(), '--minutes', '20'])
  expect(status).toBe(0)
  const triggers = alarms.map((alarm) => `--rollback-trigger-alarm-arns ${alarm}`).join(' ')
  const passed = `--context ${context()}`
  expect(calls).toEqual([
    `deploy Test-directory ${passed}`,
    // The first deployment has no alarms.
    `deploy Test-staging --exclusively ${passed}`,
    `deploy Test-us --exclusively ${triggers} --monitoring-time-minutes 20 ${passed}`,
  ])
  expect(stdout).toContain('Test-staging has no alarms yet')
})

test('after a rollback, the command does not deploy later data centres', async () => {
  const { status, calls } = await deployWatched(['-c', context()], 'Test-staging')
  expect(status).toBe(1)
  expect(calls.map((call) => call.split(' ')[1])).toEqual(['Test-directory', 'Test-staging'])
})

test('the command deploys directory and edge first, and the watch stack last', async () => {
  const settings = { webApplicationFirewall: true, dataCentres: { us: { region: 'us-east-1', streaming: true } } }
  const { calls } = await deployWatched(['-c', context(settings)])
  expect(calls[0]).toMatch(/^deploy Test-directory Test-edge /)
  expect(calls.at(-1)).toMatch(/^deploy Test-watch --exclusively /)
})
