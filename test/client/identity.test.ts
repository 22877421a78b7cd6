import { afterAll, beforeEach, expect } from 'vitest'
import { administerJson } from '../support/administration.ts'
import { messages } from '../support/messages.ts'
import { githubClaims, listenHere, startTokenIssuer } from '../support/token-issuer.ts'
import { test as base, outcome, siteFiles } from './support/command.ts'

const issuer = await startTokenIssuer()
afterAll(() => issuer.close())

/** The requests that GitHub got from the job, and the answers of GitHub. */
const asked: { url: string; authorization: string | undefined }[] = []
let answer: (audience: string) => Promise<readonly [status: number, body: string]>
beforeEach(() => {
  asked.length = 0
  answer = async (aud) => [200, JSON.stringify({ count: 1, value: await issuer.sign(githubClaims({ aud })) })]
})

const test = base
  .extend('github', { scope: 'file' }, async ({}, { onCleanup }) => {
    const { url, close } = await listenHere(async (request, response) => {
      const { url = '', headers } = request
      asked.push({ url, authorization: headers.authorization })
      const audience = new URL(url, 'http://github').searchParams.get('audience') ?? ''
      const [status, body] = await answer(audience)
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(body)
    })
    onCleanup(close)
    return url
  })
  .extend('ruled', { scope: 'file' }, async ({ service: { directory, baseUrl, siteId } }) => {
    const site = String(siteId)
    await administerJson(directory, ['issuer', 'add', issuer.url, '--id', 'github', '--audience', baseUrl])
    const claims = ['--claim', 'repository=acme/site', '--claim', 'ref=refs/heads/main']
    const granted = ['--site', site, '--right', 'files:write']
    await administerJson(directory, ['rule', 'add', '--issuer', 'github', ...claims, ...granted])
    return { site, baseUrl }
  })
  .extend(
    'job',
    ({ github, ruled }) =>
      (args: readonly string[], environment: Record<string, string> = {}) =>
        siteFiles(['--url', `${ruled.baseUrl}/`, '--identity', 'github', ...args], {
          ACTIONS_ID_TOKEN_REQUEST_URL: `${github}/token?api-version=2.0`,
          ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'token of the runner',
          ...environment,
        }),
  )

test('A job pushes a folder without a stored secret (A-112)', async ({ job, makeDirectory, ruled }) => {
  const here = await makeDirectory({ 'page.html': 'Hello' })
  expect(await job(['push', here, 'from-github'])).toMatchObject({ status: 0 })
  expect((await job(['cat', 'from-github/page.html'])).stdout).toBe('Hello')
  const audience = encodeURIComponent(ruled.baseUrl)
  expect(asked[0]).toEqual({
    url: `/token?api-version=2.0&audience=${audience}`,
    authorization: 'Bearer token of the runner',
  })
})

test('The option --site selects the rule for a job (A-98, A-112)', async ({ job, ruled }) => {
  expect(await job(['--site', ruled.site, 'ls'])).toMatchObject({ status: 0 })
  expect(await job(['--site', '999', 'ls'])).toMatchObject(outcome(1, messages.access.noRule))
})

test('If no rule matches a job, the refusal hides its token (A-100, A-112)', async ({ job }) => {
  let jwt = ''
  answer = async (aud) => {
    jwt = await issuer.sign(githubClaims({ aud, ref: 'refs/pull/1' }))
    return [200, JSON.stringify({ value: jwt })]
  }
  const refused = await job(['ls'])
  expect(refused).toMatchObject(outcome(1, messages.access.noRule))
  expect(refused.stdout + refused.stderr).not.toContain(jwt.slice(0, 20))
  expect(refused.stdout + refused.stderr).not.toContain('token of the runner')
})

test('Outside a job, the message names the missing permission (A-112)', async ({ job }) => {
  for (const environment of [{ ACTIONS_ID_TOKEN_REQUEST_URL: '' }, { ACTIONS_ID_TOKEN_REQUEST_TOKEN: '' }]) {
    expect(await job(['ls'], environment)).toMatchObject(outcome(2, messages.access.noJob))
  }
  expect(asked).toEqual([])
})

test.for<[string, number, string, string]>([
  ['an error', 403, '{}', 'answered with status 403. Repeat the job.'],
  ['a redirect', 302, '', 'did not answer. Check the address and the network'],
  ['no token', 200, '{"value":7}', messages.client.answeredWith(200)],
])('If GitHub answers with %s, the error message says so (A-112)', async ([, status, body, message], { job }) => {
  answer = async () => [status, body]
  expect(await job(['ls'])).toMatchObject(outcome(1, message))
})
