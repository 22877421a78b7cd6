import * as z from 'zod/mini'
import { permissions } from '../../access/grants.ts'
import { fieldTypes, imageVerification, maxOrder } from '../../fields/web-forms.ts'
import { xmlNames } from '../../http/write-xml.ts'
import { component, created, described, type GroupContract, link, named, ok, parameter } from '../contract.ts'
import { serviceTag } from '../documentation/contract.ts'
import { fieldChangeBody, fieldCreationBody, typeId, typeNumber } from './field-body.ts'

const storedTypeId = named(
  z.literal([...fieldTypes.keys(), imageVerification.id]),
  'StoredFieldTypeId',
  `The identifier of a type of system field. Fields of the type ${imageVerification.id} (${imageVerification.typeName}) ` +
    'can only be imported.',
  { 'x-enum-varnames': [...fieldTypes.values(), imageVerification.typeName].map((name) => `Stored${name}`) },
)

const order = described(z.int().check(z.minimum(1), z.maximum(maxOrder)), 'The position of the field in the form.')

const storedType = component('StoredFieldType', 'The type of a system field on a form.', {
  id: storedTypeId,
  name: z.string(),
})

const links = z.array(link)

export const field = component('Field', 'A system field on a web form.', {
  links,
  id: storedTypeId,
  name: z.string(),
  type: storedType,
  mandatory: z.boolean(),
  order,
})
export const createdField = component('CreatedField', 'The address of a new field.', { links, id: storedTypeId })
export const webForm = component('WebForm', 'A web form of a site.', { links, id: z.int(), name: z.string() })
const fieldType = component('FieldType', 'A type of system field.', { id: typeNumber, name: z.string() })

const pageOf = <Item extends z.core.$ZodType>(item: Item, id: string, description: string) =>
  component(id, description, {
    links,
    items: z.array(item),
    totalItemsCount: z.int().check(z.minimum(0)),
    itemsPerPageCount: z.int(),
    currentPage: z.int(),
  })

export const fieldPage = pageOf(field, 'FieldPage', 'The system fields of a web form, sorted by order.')
export const webFormPage = pageOf(webForm, 'WebFormPage', 'The web forms of a site, sorted by id.')
export const fieldTypePage = pageOf(
  fieldType,
  'FieldTypePage',
  'The types of system fields that can be placed on a form.',
)

const site = component('Site', 'A site that the token covers.', {
  id: z.int(),
  name: z.string(),
  url: described(z.string(), 'The base URL of the data centre of the site.'),
  dataCentre: z.string(),
  renderingEngine: described(z.boolean(), 'True if the operations on categories may be used.'),
  permissions: described(
    z.array(z.literal(permissions)),
    '`files` is included if the token has a right on files of the site.',
  ),
})

export const sitePage = pageOf(site, 'SitePage', 'The sites that the token covers, sorted by id.')

export const health = component('Health', 'The service answers.', { status: z.literal('ok') })

export const root = component('Root', 'The service answers. `links` lead to its `console`, `docs` and `openapi`.', {
  status: z.literal('ok'),
  links,
})

named(typeNumber, 'FieldTypeNumber', 'The id of a system field type.', { 'x-enum-varnames': [...fieldTypes.values()] })
named(typeId, 'FieldTypeId', 'The identifier of a type of system field, as a number or in a string.')

const oneOrBoth = { not: { properties: { mandatory: { not: {} }, order: { not: {} } } } }
const createdId = { field: '$response.body#/id' }
const idOfFirst = '$response.body#/items/0/id'

export const fieldsContract: GroupContract<'fields'> = {
  tag: {
    name: 'Web forms',
    description: 'The web forms of a site and the system fields on them. Answers and bodies are JSON or XML.',
  },
  // A text that is not an id, such as `abc` or `07`, gets the answer for an unknown id.
  parameters: {
    webForm: parameter('The id of the web form.', 1, z.int()),
    field: parameter('The id of the field: the identifier of its type, such as -3.', -3, z.int()),
  },
  operations: {
    getRoot: {
      tag: serviceTag,
      summary: 'Find the console and the documentation',
      description:
        'Answers programs with links. If `Accept` asks for `text/html`, as browsers do, the service redirects to the console.',
      answers: {
        200: { description: 'The service answers.', schema: root },
        302: { description: 'The address of the console.', headers: ['Location'] },
      },
      examples: [{}, { headers: { Accept: 'text/html' } }],
    },
    getHealth: {
      tag: serviceTag,
      summary: 'Check that the service answers',
      description:
        'On one machine, the answer with `ready` is 503 while the service starts, and 507 while the disk is full.',
      query: { ready: parameter('Also checks that the service can accept changes.', '', z.string()) },
      answers: { 200: { description: 'The service answers.', schema: health } },
      errors: ['unavailable', 'outOfSpace'],
      examples: [{}],
    },
    listSites: {
      summary: 'List the sites of the token',
      description: 'Every data centre answers this request. Send other requests for a site to the `url` of the site.',
      answers: ok('The sites, sorted by id.', sitePage, {
        xml: xmlNames.sites,
        links: { listWebForms: { site: idOfFirst } },
      }),
    },
    listFields: {
      summary: 'List the system fields of a web form',
      description: 'The answer has all fields on one page, sorted by order.',
      answers: ok('The fields of the form.', fieldPage, {
        xml: xmlNames.fields,
        headers: ['ETag'],
        links: { getField: { field: idOfFirst } },
      }),
      errors: ['webFormUnknown'],
    },
    getField: {
      summary: 'Read a system field of a web form',
      answers: ok('The field.', field, {
        xml: xmlNames.field,
        headers: ['ETag'],
        links: { updateField: {}, deleteField: {} },
      }),
      errors: ['webFormUnknown', 'fieldUnknown'],
    },
    createField: {
      summary: 'Add a system field to a web form',
      description:
        'Without `order`, the field is added at the end. If its position is taken, the field there and those ' +
        'directly after it move down by one, up to the first gap.',
      body: { schema: named(fieldCreationBody, 'FieldCreation'), xml: xmlNames.field },
      answers: created('The field is on the form.', createdField, {
        xml: xmlNames.field,
        headers: ['Location'],
        links: { getField: createdId, updateField: createdId, deleteField: createdId },
      }),
      errors: ['fieldsMalformed', 'webFormUnknown', 'fieldTypeTaken'],
      examples: [{ body: { type: { id: -7 }, mandatory: true, order: 2 } }],
    },
    updateField: {
      summary: 'Change a system field of a web form',
      description:
        'Changes whether the field is mandatory, its order, or both. A move first frees the old ' +
        'position of the field. If the new position is taken, other fields move as they do for a new field.',
      body: {
        schema: named(fieldChangeBody, 'FieldChange', 'Send `mandatory`, `order` or both.', oneOrBoth),
        xml: xmlNames.field,
      },
      answers: { 200: { description: 'The field is changed.', links: { getField: {} } } },
      errors: ['fieldsMalformed', 'webFormUnknown', 'fieldUnknown', 'conditionFailed'],
      examples: [
        { path: { field: -7 }, body: { mandatory: false, order: 4 } },
        { body: { mandatory: 'perhaps', order: 0 } },
      ],
    },
    deleteField: {
      summary: 'Remove a system field from a web form',
      description: 'The other fields keep their positions, and the position of the removed field stays empty.',
      answers: { 200: { description: 'The field is no longer on the form.' } },
      errors: ['webFormUnknown', 'fieldUnknown', 'conditionFailed'],
      examples: [{ path: { field: -7 } }],
    },
    listWebForms: {
      summary: 'List the web forms of a site',
      answers: ok('The web forms, sorted by id.', webFormPage, {
        xml: xmlNames.webForms,
        links: { getWebForm: { webForm: idOfFirst }, listFields: { webForm: idOfFirst } },
      }),
    },
    getWebForm: {
      summary: 'Read a web form',
      answers: ok('The web form.', webForm, { xml: xmlNames.webForm, links: { listFields: {}, createField: {} } }),
      errors: ['webFormUnknown'],
    },
    listFieldTypes: {
      summary: 'List the types of system fields',
      description: 'The catalogue: every type of system field that can be placed on a form.',
      answers: { 200: { description: 'The catalogue.', schema: fieldTypePage, xml: xmlNames.fieldTypes } },
    },
  },
}
