import type { Connection } from './connection.ts'
import {
  createField,
  deleteField,
  getField,
  getWebForm,
  listFields,
  listFieldTypes,
  listWebForms,
  updateField,
} from './generated/operations.gen.ts'
import type { Field, FieldChange, FieldType, FieldTypeId, WebForm } from './generated/types.gen.ts'
import { withTag } from './operation.ts'
import { paginate } from './pages.ts'
import { hasStatus } from './service-error.ts'

/** A system field, and the tag of the state that the client has read. */
export interface ReadField extends Field {
  readonly etag: string
}

export interface SystemFieldCreation {
  readonly type: FieldTypeId
  readonly mandatory: boolean
  /** By default, the field is added at the end. */
  readonly order?: number
}

/** The change applies only to the state with this tag. The default is the state at the start of the call. */
export interface FieldCondition {
  readonly etag?: string
}

export interface Forms {
  list(): AsyncIterable<WebForm>
  get(form: number): Promise<WebForm>
  types(): AsyncIterable<FieldType>
  fields(form: number): AsyncIterable<Field>
  field(form: number, field: number): Promise<ReadField>
  /** Returns the id of the new field. 403 / 115006 if the form already has a field of this type. */
  add(form: number, field: SystemFieldCreation): Promise<number>
  change(form: number, field: number, change: FieldChange, condition?: FieldCondition): Promise<void>
  remove(form: number, field: number, condition?: FieldCondition): Promise<void>
}

export const createForms = ({ site, call }: Connection): Forms => {
  const path = { site: site.id }
  /** The service returns these lists as one page. */
  const list = <Item>(read: () => Promise<{ data: { items: readonly Item[] } }>) =>
    paginate(async () => ({ items: (await read()).data.items, next: undefined }))

  const read = async (webForm: number, field: number): Promise<ReadField> =>
    withTag(await getField(call, { path: { ...path, webForm, field } }))

  return {
    list: () => list(() => listWebForms(call, { path })),
    get: async (webForm) => (await getWebForm(call, { path: { ...path, webForm } })).data,
    types: () => list(() => listFieldTypes(call, { path })),
    fields: (webForm) => list(() => listFields(call, { path: { ...path, webForm } })),
    field: read,
    async add(webForm, { type, ...field }) {
      const { data } = await createField(call, {
        path: { ...path, webForm },
        body: { type: { id: type }, ...field },
      })
      return data.id
    },
    async change(webForm, field, body, { etag } = {}) {
      const tag = etag ?? (await read(webForm, field)).etag
      const request = { path: { ...path, webForm, field }, headers: { 'If-Match': tag }, body }
      try {
        await updateField(call, request)
      } catch (error) {
        if (!hasStatus(error, 412)) throw error
        const now = await read(webForm, field)
        const isApplied = Object.entries(body).every(
          ([member, value]) => now[member === 'order' ? 'order' : 'mandatory'] === value,
        )
        if (!isApplied) throw error
      }
    },
    async remove(webForm, field, { etag } = {}) {
      const tag = etag ?? (await read(webForm, field)).etag
      await deleteField(call, { path: { ...path, webForm, field }, headers: { 'If-Match': tag } })
    },
  }
}
