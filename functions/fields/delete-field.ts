import type { FieldsDeps } from '../../lib/deps.ts'
import { fieldEntry, removeField } from '../../lib/fields/field-rules.ts'
import { ifMatch } from '../../lib/http/conditions.ts'
import { operation } from '../../lib/http/operation.ts'
import { done } from '../../lib/http/reply.ts'
import { fieldOf } from './params.ts'
import { fieldTag } from './views.ts'

/** Operation 5: takes a system field off a web form. 200 with an empty body; 412 when `If-Match` does not hold. */
export const deleteField = ({ webForms }: FieldsDeps) =>
  operation({ params: fieldOf }, async ({ site, params, headers, author }) => {
    const check = ifMatch(headers['if-match'])
    await webForms.changeFields(
      site.id,
      params.webForm,
      (fields) => removeField(fields, params.typeId, (field) => check(fieldTag(field))),
      fieldEntry('field.removed', site, params.webForm, params.typeId, author),
    )
    return done
  })
