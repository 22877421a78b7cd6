import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSettingsOf } from '../../../lib/config/config.ts'
import { createClientSecrets } from '../../../local/service.ts'
import { scratchDirectory } from '../../support/directory.ts'

const settingsOf = (environment: Record<string, string>) => readSettingsOf('machine', environment)

test('The environment can hold a secret for each issuer (A-93)', async () => {
  const findSecret = createClientSecrets(settingsOf({ CLIENT_SECRETS: '{"work":"one"}' }))
  expect(await findSecret('work')).toBe('one')
  expect(await findSecret('other')).toBeUndefined()
  expect(await createClientSecrets(settingsOf({}))('work')).toBeUndefined()
})

test('A new secret in the file takes effect at once (A-93)', async () => {
  const file = join(scratchDirectory(), 'secrets.json')
  await writeFile(file, '{}')
  const findSecret = createClientSecrets(settingsOf({ CLIENT_SECRETS_FILE: file, CLIENT_SECRETS: '{"work":"none"}' }))
  for (const secret of ['one', 'two']) {
    await writeFile(file, JSON.stringify({ work: secret }))
    expect(await findSecret('work')).toBe(secret)
  }
})

const malformed = ['secret', '"secret"', '["secret"]', '{"work":["secret"]}', '{"work":"secret"']
test.each(malformed)('Malformed secrets are refused, and the message shows no secret: %s (A-93)', async (text) => {
  const file = join(scratchDirectory(), 'secrets.json')
  await writeFile(file, '{}')
  const findSecret = createClientSecrets(settingsOf({ CLIENT_SECRETS_FILE: file }))
  await writeFile(file, text)
  const failure = await findSecret('work').catch(String)
  expect(failure).toContain(`The file ${file} must be a JSON object`)
  expect(failure).not.toContain('"secret"')
  for (const [variable, value, fault] of [
    ['CLIENT_SECRETS', text, 'must be a JSON object'],
    ['CLIENT_SECRETS_FILE', file, `The file ${file} must be a JSON object`],
  ] as const) {
    const read = () => settingsOf({ [variable]: value })
    expect(read).toThrow(`${variable} (${fault}`)
    expect(read).not.toThrow('"secret"')
  }
})

test('If the file is missing, the message names the file (A-93)', async () => {
  const file = join(scratchDirectory(), 'secrets.json')
  const read = () => settingsOf({ CLIENT_SECRETS_FILE: file })
  expect(read).toThrow('CLIENT_SECRETS_FILE (must name a file that this user can read: ')
  expect(read).toThrow(file)
  await writeFile(file, '{}')
  const findSecret = createClientSecrets(read())
  await rm(file)
  await expect(findSecret('work')).rejects.toThrow(file)
})
