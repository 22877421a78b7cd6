import { fieldTypes } from '../../lib/fields/catalogue.ts'
import { siteUrls } from '../../lib/http/links.ts'
import { noParams, operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { Answer } from '../contract.ts'
import type { fieldTypePage } from './contract.ts'
import { wholeList } from './views.ts'
import { xmlNames } from './xml-names.ts'

const items = [...fieldTypes].map(([id, name]) => ({ id, name }))

/** The catalogue: every type of system field that can be placed on a form (decisions.md, section 8). */
export const listFieldTypes = operation({ params: noParams }, async ({ site, dataCentre }) => {
  const value: Answer<typeof fieldTypePage> = wholeList(siteUrls(dataCentre, site).fieldTypes(), items)
  return ok({ value, xml: xmlNames.fieldTypes })
})
