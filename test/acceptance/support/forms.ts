import { target } from '../setup/target.ts'
import { admin } from './admin.ts'
import { call } from './http.ts'

export const site = '/api/v1/admin/sites/current'
export const fieldsOf = (webFormId: number | string, at = site): string => `${at}/webforms/${webFormId}/fields/system`

export interface NewField {
  readonly id: number
  readonly mandatory?: boolean
  readonly order?: number | undefined
}

let siteId: number | undefined

/** The numeric id of the site of the token. */
export const ownSiteId = async (): Promise<number> => {
  const { json } = await call(`${site}/webforms`)
  siteId ??= Number(/sites\/(\d+)\//.exec(json.links[0].uri)?.[1])
  return siteId
}

export const addField = (webFormId: number, { id, mandatory = false, order }: NewField) =>
  call(fieldsOf(webFormId), { method: 'POST', body: { type: { id }, mandatory, order } })

/** The id and order of every field, as listed: `-2@1 -3@2`. */
export const layoutOf = async (webFormId: number): Promise<string> => {
  const { json } = await call(fieldsOf(webFormId))
  return json.items.map(({ id, order }: { id: number; order: number }) => `${id}@${order}`).join(' ')
}

/** A form that only this test file uses. Without the administration tool, the first form of the site. */
const ownForm = async (): Promise<number> => {
  if (target.admin) {
    return (await admin('form', 'create', '--site', String(await ownSiteId()), '--name', 'Acceptance')).id
  }
  return (await call(`${site}/webforms`)).json.items[0].id
}

let form: Promise<number> | undefined

/** A form with exactly these fields. */
export const formWith = async (...fields: readonly NewField[]): Promise<number> => {
  form ??= ownForm()
  const webFormId = await form
  const { json } = await call(fieldsOf(webFormId))
  for (const { id } of json.items) await call(`${fieldsOf(webFormId)}/${id}`, { method: 'DELETE' })
  for (const field of fields) await addField(webFormId, field)
  return webFormId
}
