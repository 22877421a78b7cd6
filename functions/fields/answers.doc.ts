import * as z from 'zod/mini'
import { fieldTypes, imageVerification } from '../../lib/fields/catalogue.ts'
import { maxOrder } from '../../lib/fields/web-form.ts'
import { link } from '../link.doc.ts'

/** What the operations on web forms answer. The views are typed by these; only the document loads them. */
const storedTypeId = z.literal([...fieldTypes.keys(), imageVerification.id]).register(z.globalRegistry, {
  id: 'StoredFieldTypeId',
  description: `The identifier of a type of system field. ${imageVerification.id} (${imageVerification.typeName}) is stored by import only.`,
})

const order = z
  .int()
  .check(z.minimum(1), z.maximum(maxOrder))
  .register(z.globalRegistry, { description: 'The position of the field in the form.' })

export const field = z
  .object({
    links: z.array(link),
    id: storedTypeId,
    name: z.string(),
    type: z.object({ id: storedTypeId, name: z.string() }),
    mandatory: z.boolean(),
    order,
  })
  .register(z.globalRegistry, { id: 'Field', description: 'A system field on a web form.' })

export const createdField = z
  .object({ links: z.array(link), id: storedTypeId })
  .register(z.globalRegistry, { id: 'CreatedField', description: 'Where a new field is.' })

export const webForm = z
  .object({ links: z.array(link), id: z.int(), name: z.string() })
  .register(z.globalRegistry, { id: 'WebForm', description: 'A web form of a site.' })

const fieldType = z
  .object({ id: z.literal([...fieldTypes.keys()]), name: z.string() })
  .register(z.globalRegistry, { id: 'FieldType', description: 'A type of system field.' })

const pageOf = <Item extends z.core.$ZodType>(item: Item) =>
  z.object({
    links: z.array(link),
    items: z.array(item),
    totalItemsCount: z.int().check(z.minimum(0)),
    itemsPerPageCount: z.int(),
    currentPage: z.int(),
  })

export const fieldPage = pageOf(field).register(z.globalRegistry, {
  id: 'FieldPage',
  description: 'The system fields of a web form, sorted by order.',
})
export const webFormPage = pageOf(webForm).register(z.globalRegistry, {
  id: 'WebFormPage',
  description: 'The web forms of a site, sorted by id.',
})
export const fieldTypePage = pageOf(fieldType).register(z.globalRegistry, {
  id: 'FieldTypePage',
  description: 'The types of system fields that can be placed on a form.',
})
