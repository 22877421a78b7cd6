import type { FieldsDeps } from '../../lib/deps.ts'
import { addField, fieldEntry } from '../../lib/fields/field-rules.ts'
import { siteUrls } from '../../lib/http/links.ts'
import { operation } from '../../lib/http/operation.ts'
import type { Answer } from '../contract.ts'
import type { createdField } from './contract.ts'
import { bodyOf, webFormOf } from './params.ts'
import { xmlNames } from './xml-names.ts'

/** Operation 3: puts a system field on a web form. 201 with its id and self link; 403/115006 when the form has that type already. */
export const createField = ({ webForms }: FieldsDeps) =>
  operation(
    {
      params: webFormOf,
      body: bodyOf(async () => (await import('./field-body.ts')).newFieldBody),
    },
    async ({ site, dataCentre, params, body: { type, mandatory, order }, author }) => {
      const field = { typeId: type.id, mandatory, order }
      const entry = fieldEntry('field.created', site, params.webForm, type.id, author)
      await webForms.changeFields(site.id, params.webForm, (fields) => addField(fields, field), entry)
      const self = siteUrls(dataCentre, site).field(params.webForm, type.id)
      const value: Answer<typeof createdField> = { links: [{ rel: 'self', uri: self }], id: type.id }
      return { status: 201, headers: { Location: self }, document: { value, xml: xmlNames.field } }
    },
  )
