import { randomUUID } from 'node:crypto'
import { readSettingsOf } from '../../lib/config/config.ts'

const settings = readSettingsOf('canary')

const longest = 10_000
const site = '/sites/current'
const file = `/api/v2/admin${site}/storage/canary.txt`
const forms = `/api/v1/admin${site}/webforms`

/**
 * Does what a caller does: stores, reads and removes a file, and adds, changes and removes a field. Throws an Error
 * that names the request that failed.
 */
export const useService = async ({ baseUrl, canaryToken }: typeof settings): Promise<void> => {
  const ask = async (method: string, path: string, body?: string, missing?: number): Promise<string> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        Authorization: canaryToken,
        'Content-Type': body?.startsWith('{') ? 'application/json' : 'text/plain',
      },
      body: body ?? null,
      redirect: 'error',
      signal: AbortSignal.timeout(longest),
    })
    const text = await response.text()
    if (response.ok || response.status === missing) return text
    throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`)
  }

  const content = randomUUID()
  await ask('PUT', file, content)
  const read = await ask('GET', file)
  if (read !== content) throw new Error(`GET ${file} did not return the bytes that were stored`)
  await ask('DELETE', file)

  const [form] = JSON.parse(await ask('GET', forms)).items
  if (!form) throw new Error('The site of the canary has no web form. Create one: "site-admin form create".')
  const fields = `${forms}/${form.id}/fields/system`
  // An earlier run may have left the field.
  await ask('DELETE', `${fields}/-20`, undefined, 404)
  await ask('POST', fields, '{"type": {"id": -20}, "mandatory": true}')
  await ask('PUT', `${fields}/-20`, '{"mandatory": false}')
  await ask('DELETE', `${fields}/-20`)
}

export const handler = (): Promise<void> => useService(settings)
