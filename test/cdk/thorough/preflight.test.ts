import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { checkConcurrency, wantedConcurrency } from '../../../cdk/config/lambda-quotas.ts'
import { parseSettings } from '../../../cdk/config/settings.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { listen, listenInTest } from '../../support/listen.ts'
import { messages } from '../../support/messages.ts'
import { run, runInShell, startInShell } from '../../support/program.ts'

/** Replaces Lambda at the transport of its SDK. */
const answerWith = async (status: number, body: object): Promise<void> => {
  const server = createServer((request, response) => {
    const isQuestion = request.url === '/2016-08-19/account-settings'
    response.writeHead(isQuestion ? status : 400, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  })
  vi.stubEnv('AWS_ENDPOINT_URL', await listenInTest(server))
}

const limitOf = (count: number) => ({
  AccountLimit: { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: count },
})

beforeEach(() => void vi.stubEnv('AWS_ACCESS_KEY_ID', 'test').stubEnv('AWS_SECRET_ACCESS_KEY', 'test'))
afterAll(() => void vi.unstubAllEnvs())

const settings = {
  prefix: 'Test',
  dataCentres: { us: { region: 'us-east-1' }, eu: { region: 'eu-west-1' }, asia: { region: 'us-east-1' } },
  defaultDataCentre: 'us',
}

test('a region may run as many functions as its data centres let requests in', () => {
  expect(Object.fromEntries(wantedConcurrency(parseSettings(settings)))).toEqual({ 'us-east-1': 100, 'eu-west-1': 50 })
})

test('the limit covers the reserved functions and the part that stays unreserved', async () => {
  // Without `webhooks`, there is no function for the last reservation.
  const reserving = parseSettings({ ...settings, reservedConcurrency: { fields: 20, storage: 50, webhooks: 30 } })
  expect(Object.fromEntries(wantedConcurrency(reserving))).toEqual({ 'us-east-1': 240, 'eu-west-1': 170 })
  await answerWith(200, limitOf(930))
  expect(await checkConcurrency('us-east-1', 1000, reserving)).toMatchObject({ isEnough: true })
})

test.each([
  ['the call is unsupported', 501, { message: 'not known here' }],
  ['the answer has no limit', 200, {}],
])('if %s, the check reports that the limit could not be read', async (_, status, body) => {
  await answerWith(status, body)
  const message = expect.stringContaining('NOT CHECKED')
  expect(await checkConcurrency('us-east-1', 50, parseSettings(settings))).toEqual({ isEnough: true, message })
})

test('without permission to read the limit, the check fails', async () => {
  await answerWith(403, { message: 'not allowed' })
  await expect(checkConcurrency('us-east-1', 50, parseSettings(settings))).rejects.toThrow('not allowed')
})

test('if a limit is too low, the check says how to raise it, and exits with 1', async () => {
  await answerWith(200, limitOf(60))
  const { status, stdout } = await run('cdk/preflight.ts', ['-c', `siteAdmin=${JSON.stringify(settings)}`])
  expect(status).toBe(1)
  expect(stdout).toMatch(messages.deployment.tooFew('us-east-1', 60, 100))
  expect(stdout).toContain(messages.deployment.enough('eu-west-1', 60))
})

const streams = { ...settings, dataCentres: { us: { region: 'us-east-1', streaming: true } } }

/** Puts a fake `aws` that prints these quotas first in the PATH. */
const answerWithQuotas = (accountQuotas: object): void => {
  const folder = scratchDirectory()
  const answer = JSON.stringify({ accountQuotas })
  const expected = 'lambda-web get-web-account-settings --region us-east-1 --output json'
  writeFileSync(join(folder, 'aws'), `#!/bin/sh\n[ "$*" = '${expected}' ] && echo '${answer}'\n`)
  chmodSync(join(folder, 'aws'), 0o755)
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`)
}

test.each([
  [{ maxTotalArmVCpus: 63, maxTotalRateLimit: 500 }, 0, /63 processors and 500 requests .* need 63 and 500: enough/],
  [{ maxTotalArmVCpus: 62, maxTotalRateLimit: 500 }, 1, /62 processors .* need 63 and 500\. .*Service Quotas/s],
  [{ maxTotalArmVCpus: 63, maxTotalRateLimit: 400 }, 1, /400 requests .* need 63 and 500\. .*Service Quotas/s],
  [{}, 0, /NOT CHECKED.*aws lambda-web get-web-account-settings --region us-east-1.* need 63 and 500/],
])('the check compares the quotas of Web Functions, if it can read them: %j', async (quotas, wanted, printed) => {
  await answerWith(200, limitOf(1000))
  answerWithQuotas(quotas)
  const { status, stdout } = await run('cdk/preflight.ts', ['-c', `siteAdmin=${JSON.stringify(streams)}`])
  expect(stdout).toMatch(printed)
  expect(status).toBe(wanted)
})

test('the check uses the settings of cdk.json, like a deployment', async () => {
  await answerWith(200, limitOf(1000))
  const { status, stdout } = await run('cdk/preflight.ts', [])
  expect([status, stdout]).toEqual([0, `${messages.deployment.enough('us-east-1', 1000)}\n`])
})

test('if cdk.json cannot be read, the check names it', async () => {
  const folder = scratchDirectory()
  writeFileSync(join(folder, 'cdk.json'), '{"context": {')
  const script = join(import.meta.dirname, '..', '..', '..', 'cdk', 'preflight.ts')
  const { status, stderr } = await runInShell('cd "$1" && "$node" "$2"', [folder, script])
  expect([status, stderr]).toEqual([1, expect.stringMatching(messages.deployment.unreadable)])
})

test('without credentials, the check says what to do and what it would read', async () => {
  // The SDK tries the metadata service of EC2 last. Here this service never answers.
  const asked = vi.fn()
  const silent = createTcpServer(asked)
  const address = await listen(silent)
  onTestFinished(() => void silent.close())
  const program = startInShell(
    'exec env -i PATH="$PATH" HOME=/nonexistent AWS_EC2_METADATA_SERVICE_ENDPOINT="$1" "$node" cdk/preflight.ts -c "$2"',
    [address, `siteAdmin=${JSON.stringify(settings)}`],
  )
  program.stdin.end()
  const { status, stdout, stderr } = await program.ended
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/AWS_PROFILE.*aws sts get-caller-identity/s)
  expect(stderr).toMatch(messages.deployment.unknown('us-east-1', 100))
  expect(stderr).toMatch(messages.deployment.unknown('eu-west-1', 50))
  expect(stderr).not.toContain('    at ')
  expect(asked).toHaveBeenCalled()
})

test('if AWS refuses the credentials, the check says what to do', async () => {
  await answerWith(403, { __type: 'ExpiredTokenException', message: 'The security token is not valid' })
  const { status, stderr } = await run('cdk/preflight.ts', [])
  expect(status).toBe(1)
  expect(stderr).toMatch(/^The security token is not valid\n.*AWS_PROFILE/s)
  expect(stderr).toMatch(messages.deployment.unknown('us-east-1', 50))
})
