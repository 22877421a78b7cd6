import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSettingsOf } from '../../../lib/config/config.ts'
import { createClientSecrets } from '../../../local/client-secrets.ts'
import { scratchDirectory } from '../../support/directory.ts'

const settingsOf = (environment: Record<string, string>) => readSettingsOf('machine', environment)

test('A secret comes from the environment, for its issuer alone (A-93)', async () => {
  const findSecret = createClientSecrets(settingsOf({ CLIENT_SECRETS: '{"work":"one"}' }))
  expect(await findSecret('work')).toBe('one')
  expect(await findSecret('other')).toBeUndefined()
  expect(await createClientSecrets(settingsOf({}))('work')).toBeUndefined()
})

test('A secret that changes in the file takes effect at once (A-93)', async () => {
  const file = join(scratchDirectory(), 'secrets.json')
  const findSecret = createClientSecrets(settingsOf({ CLIENT_SECRETS_FILE: file, CLIENT_SECRETS: '{"work":"none"}' }))
  for (const secret of ['one', 'two']) {
    await writeFile(file, JSON.stringify({ work: secret }))
    expect(await findSecret('work')).toBe(secret)
  }
})

test.each(['secret', '"secret"', '["secret"]', '{"work":["secret"]}', '{"work":"secret"'])(
  'Secrets in another form are refused, and the message shows none: %s (A-93)',
  async (text) => {
    const file = join(scratchDirectory(), 'secrets.json')
    await writeFile(file, text)
    const failure = await createClientSecrets(settingsOf({ CLIENT_SECRETS_FILE: file }))('work').catch(String)
    expect(failure).toContain(`CLIENT_SECRETS_FILE names ${file}: must be a JSON object`)
    expect(failure).not.toContain('"secret"')
    const read = () => settingsOf({ CLIENT_SECRETS: text })
    expect(read).toThrow('CLIENT_SECRETS (must be a JSON object')
    expect(read).not.toThrow('"secret"')
  },
)

test('A file that is missing is named (A-93)', async () => {
  const findSecret = createClientSecrets(settingsOf({ CLIENT_SECRETS_FILE: '/nonexistent/secrets.json' }))
  await expect(findSecret('work')).rejects.toThrow('/nonexistent/secrets.json')
})
