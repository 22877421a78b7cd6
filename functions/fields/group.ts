import type { Answer } from '../../lib/contract/contract.ts'
import type * as contract from '../../lib/contract/fields/contract.ts'
import { fieldsRoutes } from '../../lib/contract/routes/fields.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import type { ChangeType } from '../../lib/core/history-entry.ts'
import { parseId, type WebFormId } from '../../lib/core/ids.ts'
import {
  addField,
  changeField,
  type Fields,
  type FieldsEdit,
  fieldTypeName,
  fieldTypes,
  findField,
  imageVerification,
  removeField,
  type SystemField,
  type WebForm,
  type WebFormSummary,
  type WebForms,
} from '../../lib/fields/web-forms.ts'
import { createHandler } from '../../lib/http/handler.ts'
import { bodiesOf, type OperationInput, operationsOn, type Segments } from '../../lib/http/operation.ts'
import { byValue, done, ok } from '../../lib/http/reply.ts'
import { checkConditions, tagOf } from '../../lib/http/representation.ts'
import type { Handler } from '../../lib/http/request.ts'
import { xmlNames } from '../../lib/http/write-xml.ts'
import type { FieldsDeps } from '../../lib/service/deps.ts'
import { getHealth, getRoot, listSites, sitesUrl, wholeList } from './service.ts'

type Place = Pick<OperationInput, 'dataCentre' | 'site'>

const siteUrl = ({ dataCentre, site }: Place): string => `${sitesUrl(dataCentre)}/${site.id}`
const formUrl = (place: Place, form: WebFormId): string => `${siteUrl(place)}/webforms/${form}`
const fieldsUrl = (place: Place, form: WebFormId): string => `${formUrl(place, form)}/fields/system`

const webFormView = ({ id, name }: WebFormSummary, place: Place): Answer<typeof contract.webForm> => ({
  links: [
    { rel: 'self', uri: formUrl(place, id) },
    { rel: 'systemFields', uri: fieldsUrl(place, id) },
  ],
  id,
  name,
})

const fieldView = ({ typeId, name, mandatory, order }: SystemField, fields: string): Answer<typeof contract.field> => {
  const typeName = fieldTypeName(typeId) ?? ''
  return {
    links: [{ rel: 'self', uri: `${fields}/${typeId}` }],
    id: typeId,
    name: name ?? (typeId === imageVerification.id ? imageVerification.fieldName : typeName),
    type: { id: typeId, name: typeName },
    mandatory,
    order,
  }
}

// The order of the members is fixed here, because stores may return them in another order.
export const fieldTag = (field: SystemField): string => tagOf(Object.entries(field).sort())

const webFormOf = ({ webForm = '' }: Segments): { webForm: WebFormId } => {
  const id = parseId<WebFormId>(webForm)
  if (id === undefined) throw new ServiceError('webFormUnknown')
  return { webForm: id }
}

// F-3: an unknown form is the first fault, so a malformed id of a field becomes a number that no field has.
const fieldOf = (segments: Segments) => ({
  ...webFormOf(segments),
  typeId: parseId<number>(segments['field'] ?? '') ?? Number.NaN,
})

const operation = operationsOn<FieldsDeps>()

const bodyOf = bodiesOf({
  schemas: () => import('../../lib/contract/fields/field-body.ts'),
  malformed: 'fieldsMalformed',
  xml: async (text) => (await import('../../lib/http/read-xml.ts')).readXml(text),
})

type FormInput = OperationInput<ReturnType<typeof webFormOf>>

const findForm = async (webForms: WebForms, { site, params }: FormInput): Promise<WebForm> => {
  const form = await webForms.get(site.id, params.webForm)
  if (!form) throw new ServiceError('webFormUnknown')
  return form
}

const listWebForms = operation({}, async (input, { webForms }) => {
  const items = (await webForms.list(input.site.id)).map((form) => webFormView(form, input))
  return ok<Answer<typeof contract.webFormPage>>(wholeList(`${siteUrl(input)}/webforms`, items), {
    xml: xmlNames.webForms,
  })
})

const getWebForm = operation({ params: webFormOf }, async (input, { webForms }) => {
  const form = await findForm(webForms, input)
  return ok(webFormView(form, input), { xml: xmlNames.webForm })
})

/** F-2 (operation 2). 404/115001 for an unknown form, 404/115002 for an unknown field. */
const getField = operation({ params: fieldOf }, async (input, { webForms }) => {
  const form = await findForm(webForms, input)
  const field = findField(form.fields, input.params.typeId)
  const value = fieldView(field, fieldsUrl(input, form.id))
  return ok(value, { xml: xmlNames.field, tag: fieldTag(field) })
})

/** F-1 (operation 1). 404/115001 for an unknown form. */
const listFields = operation({ params: webFormOf }, async (input, { webForms }) => {
  const form = await findForm(webForms, input)
  const url = fieldsUrl(input, form.id)
  const items = form.fields.map((field) => fieldView(field, url))
  return ok<Answer<typeof contract.fieldPage>>(wholeList(url, items), { xml: xmlNames.fields, tag: byValue })
})

const changeFields = (input: FormInput, deps: FieldsDeps, type: ChangeType, typeId: number, edit: FieldsEdit) => {
  const { site, params, author, deadline } = input
  const entry = { ...author, site: site.id, type, subject: `form/${params.webForm}/field/${typeId}` }
  return deps.webForms.changeFields(site.id, params.webForm, edit, entry, deadline)
}

const checkField = ({ headers, params }: OperationInput<ReturnType<typeof fieldOf>>, fields: Fields): Fields => {
  checkConditions(headers, fieldTag(findField(fields, params.typeId)))
  return fields
}

/** F-14 (operation 3). 403/115006 when the form already has a field of this type. */
const createField = operation({ params: webFormOf, body: bodyOf('fieldCreationBody') }, async (input, deps) => {
  const { type, mandatory, order } = input.body
  const field = { typeId: type.id, mandatory, order }
  await changeFields(input, deps, 'field.created', type.id, (fields) => addField(fields, field))
  const self = `${fieldsUrl(input, input.params.webForm)}/${type.id}`
  const value = { links: [{ rel: 'self' as const, uri: self }], id: type.id }
  const how = { headers: { Location: self }, xml: xmlNames.field }
  return { ...ok<Answer<typeof contract.createdField>>(value, how), status: 201 }
})

/** F-18 (operation 4). 412 when a condition fails. */
const updateField = operation({ params: fieldOf, body: bodyOf('fieldChangeBody') }, async (input, deps) => {
  const { body, params } = input
  const edit = (fields: Fields) => changeField(checkField(input, fields), params.typeId, body)
  await changeFields(input, deps, 'field.updated', params.typeId, edit)
  return done
})

/** F-19 (operation 5). 412 when a condition fails. */
const deleteField = operation({ params: fieldOf }, async (input, deps) => {
  const { typeId } = input.params
  await changeFields(input, deps, 'field.removed', typeId, (fields) => removeField(checkField(input, fields), typeId))
  return done
})

const items = [...fieldTypes].map(([id, name]) => ({ id, name }))

const listFieldTypes = operation({}, async (input) => {
  const self = `${siteUrl(input)}/webformfieldtypes/system`
  return ok<Answer<typeof contract.fieldTypePage>>(wholeList(self, items), { xml: xmlNames.fieldTypes })
})

const operations = {
  getHealth,
  getRoot,
  listSites,
  listWebForms,
  getWebForm,
  listFields,
  getField,
  createField,
  updateField,
  deleteField,
  listFieldTypes,
}

export const createFieldsHandler = (deps: FieldsDeps): Handler =>
  createHandler('fields', fieldsRoutes, operations, deps)
