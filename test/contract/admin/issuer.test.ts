import { expect } from 'vitest'
import { refusal } from '../../support/administration.ts'
import { test } from '../../support/test.ts'

const add = 'issuer add https://login.example.com --id work --audience site-admin'
const rule = (granted: string) => `rule add --issuer work --claim groups=web=1 --site 1001 ${granted}`

test('rule add refuses claims that no token or every token has (A-105)', async ({ commands: { run, attempt } }) => {
  await run(add)
  const withClaim = (claim: string) => `rule add --issuer work --claim ${claim} --site 1001 --right files:read`
  for (const claim of ['groups=', `groups=${'x'.repeat(256)}`, 'exp=1', '__proto__=1'])
    expect((await attempt(withClaim(claim))).status, claim).not.toBe(0)
  const longest = 'x'.repeat(255)
  expect(await run(withClaim(`groups=${longest}`))).toMatchObject({ claims: { groups: longest } })
})

test('rule add refuses a rule that exists (A-105)', async ({ commands: { run, attempt }, siteDirectory }) => {
  await run(add)
  const added = await run(rule('--right files:read'))
  const sentence = `The rule ${added.id} already says the same. "rule list" lists all rules.`
  expect(await attempt(rule('--right files:read'))).toEqual(refusal(siteDirectory, sentence))
  expect(added.claims).toEqual({ groups: 'web=1' })
  expect(await run('rule list')).toEqual([added])
})

test('A rule for people needs an issuer with a client id (A-105)', async ({ commands: { run, attempt } }) => {
  await run(add)
  expect((await attempt(rule('--role editor'))).status).toBe(1)
  await run('issuer remove work')
  await run(`${add} --client-id site-admin`)
  expect(await run(rule('--role editor'))).toMatchObject({ role: 'editor' })
})
