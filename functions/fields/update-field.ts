import type { FieldsDeps } from '../../lib/deps.ts'
import { changeField, fieldEntry } from '../../lib/fields/field-rules.ts'
import { ifMatch } from '../../lib/http/conditions.ts'
import { operation } from '../../lib/http/operation.ts'
import { done } from '../../lib/http/reply.ts'
import { bodyOf, fieldOf } from './params.ts'
import { fieldTag } from './views.ts'

/** Operation 4: changes whether a field is mandatory, its order, or both. 200 with an empty body; 412 when `If-Match` does not hold. */
export const updateField = ({ webForms }: FieldsDeps) =>
  operation(
    {
      params: fieldOf,
      body: bodyOf(async () => (await import('./field-body.ts')).fieldChangeBody),
    },
    async ({ site, params, body, headers, author }) => {
      const check = ifMatch(headers['if-match'])
      await webForms.changeFields(
        site.id,
        params.webForm,
        (fields) => changeField(fields, params.typeId, body, (field) => check(fieldTag(field))),
        fieldEntry('field.updated', site, params.webForm, params.typeId, author),
      )
      return done
    },
  )
