import { describe, expect } from 'vitest'
import { administer, administerJson } from '../../support/administration.ts'
import { test } from '../../support/test.ts'

const auditOf = (directory: string, ...options: readonly string[]) =>
  administerJson(directory, ['audit', '--site', '1001', ...options])

describe('The history of a site', () => {
  test('audit filters the history by type, actor and time (H-5, T-18)', async ({ siteDirectory }) => {
    await administer(siteDirectory, ['form', 'create', '--site', '1001', '--name', 'Contact us'])
    const typesBy = async (...options: string[]) =>
      (await auditOf(siteDirectory, ...options)).map(({ type }: { type: string }) => type)
    expect(await typesBy('--since', '2d')).toEqual(['site.created', 'form.created'])
    expect(await typesBy('--type', 'form.created')).toEqual(['form.created'])
    expect(await typesBy('--actor', 'nobody')).toEqual([])
    const [{ actor }] = await auditOf(siteDirectory)
    expect(await typesBy('--actor', actor)).toHaveLength(2)
  })

  test('audit names a token by the beginning of its hash, and never shows the token', async ({ siteDirectory }) => {
    const { token } = await administerJson(siteDirectory, ['token', 'issue', '--user', 'ann', '--site', '1001'])
    const changes = await auditOf(siteDirectory, '--type', 'token.created')
    expect(changes).toMatchObject([{ subject: expect.stringMatching(/^token\/[0-9a-f]{12}$/) }])
    expect(JSON.stringify(changes)).not.toContain(token)
  })
})
