import * as z from 'zod/mini'
import { fieldTypes, maxOrder } from '../../fields/web-forms.ts'

const mandatory = z.boolean('must be true or false')
const inRange = `must be a whole number from 1 to ${maxOrder}`
const order = z.int({ error: inRange, abort: true }).check(z.minimum(1, inRange), z.maximum(maxOrder, inRange))

export const typeNumber = z.literal([...fieldTypes.keys()])
export const typeId = z.union(
  [typeNumber, z.pipe(z.literal(typeNumber.def.values.map(String)), z.transform(Number))],
  'must be a field type: GET …/webformfieldtypes/system lists them',
)

/** F-14: without `order`, the field is added at the end. */
export const fieldCreationBody = z.object(
  { type: z.object({ id: typeId }, 'must be an object with an id'), mandatory, order: z.optional(order) },
  'The body must be an object with type and mandatory',
)

export const fieldChangeBody = z
  .object(
    { mandatory: z.optional(mandatory), order: z.optional(order) },
    'The body must be an object with mandatory, order or both',
  )
  .check(
    z.refine((change) => change.mandatory !== undefined || change.order !== undefined, 'Send mandatory, order or both'),
  )
