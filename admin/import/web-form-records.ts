import * as z from 'zod'
import { ServiceError } from '../../lib/errors.ts'
import { fieldTypeName } from '../../lib/fields/catalogue.ts'
import { importField } from '../../lib/fields/field-rules.ts'
import { maxOrder } from '../../lib/fields/web-forms.ts'
import { largestNamedId, type WebFormId } from '../../lib/ids.ts'
import { importEntry, recordKind } from './record-kind.ts'

/** Full forms stay below the 4 KB of one read unit with names up to this length. */
const longestName = 80

const id = z
  .int('must be a whole number')
  .min(1, 'must be 1 or more')
  .max(largestNamedId, `must be ${largestNamedId} or less`)
const webFormId = id.transform((value) => value as WebFormId)
const name = z
  .string('must be a text')
  .min(1, 'must not be empty')
  .max(longestName, `must have ${longestName} characters or fewer`)
  .regex(/^\P{Cc}*$/u, 'must not have control characters')

/** `{"kind": "webForm", "id", "name"}`: makes the form, or renames the one of that id. */
export const webFormRecord = recordKind({
  schema: z.strictObject({ id: webFormId, name: name.optional() }),
  batch: 1,
  async store(records, site, { webForms }) {
    for (const { id, name } of records) {
      const entry = importEntry(site, 'webForm', 1)
      const created = await webForms.create({ site, id, name: name ?? `Web form ${id}`, fields: [] }, entry)
      if (!created && name !== undefined) await webForms.rename(site, id, name, entry)
    }
    return []
  },
})

/** `{"kind": "field", "webFormId", "typeId", "name", "mandatory", "order"}`: puts a field on a form, in place of one of its type. */
export const fieldRecord = recordKind({
  schema: z.strictObject({
    webFormId,
    typeId: z
      .int('must be a whole number')
      .refine((id) => fieldTypeName(id) !== undefined, 'is not a type of system field'),
    name: name.optional(),
    mandatory: z.boolean('must be true or false').default(false),
    order: z
      .int('must be a whole number')
      .min(1, 'must be 1 or more')
      .max(maxOrder, `must be ${maxOrder} or less`)
      .optional(),
  }),
  batch: 1,
  async store(records, site, { webForms }) {
    const faults: (string | undefined)[] = []
    for (const { webFormId, ...field } of records) {
      try {
        await webForms.changeFields(
          site,
          webFormId,
          (fields) => importField(fields, field),
          importEntry(site, 'field', 1),
        )
        faults.push(undefined)
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status >= 500) throw error
        faults.push(`web form ${webFormId}: ${error.message}`)
      }
    }
    return faults
  },
})
