import type { Answer } from '../../lib/contract/contract.ts'
import type { field as fieldAnswer, webForm } from '../../lib/contract/fields/contract.ts'
import { fieldTypeName, imageVerification } from '../../lib/fields/catalogue.ts'
import type { SystemField, WebFormSummary } from '../../lib/fields/web-forms.ts'
import { tagOf } from '../../lib/http/conditions.ts'
import type { Link, SiteUrls } from '../../lib/http/links.ts'

export const webFormView = ({ id, name }: WebFormSummary, urls: SiteUrls): Answer<typeof webForm> => ({
  links: [
    { rel: 'self', uri: urls.webForm(id) },
    { rel: 'systemFields', uri: urls.fields(id) },
  ],
  id,
  name,
})

const nameOf = ({ typeId, name }: SystemField, typeName: string): string =>
  name ?? (typeId === imageVerification.id ? imageVerification.fieldName : typeName)

/** F-10, F-11. `self` is the URL of the field. */
export const fieldView = (field: SystemField, self: string): Answer<typeof fieldAnswer> => {
  const { typeId, mandatory, order } = field
  const typeName = fieldTypeName(typeId) ?? ''
  return {
    links: [{ rel: 'self', uri: self }],
    id: typeId,
    name: nameOf(field, typeName),
    type: { id: typeId, name: typeName },
    mandatory,
    order,
  }
}

// Stores may order the members differently.
export const fieldTag = (field: SystemField): string => tagOf(Object.entries(field).sort())

/** F-5: a list of the first version of the API has one page. */
export interface WholeList<Item> {
  readonly links: readonly Link[]
  readonly items: readonly Item[]
  readonly totalItemsCount: number
  readonly itemsPerPageCount: number
  readonly currentPage: number
}

export const wholeList = <Item>(self: string, items: readonly Item[]): WholeList<Item> => ({
  links: [
    { rel: 'self', uri: self },
    { rel: 'previous', uri: null },
    { rel: 'next', uri: null },
  ],
  items,
  totalItemsCount: items.length,
  itemsPerPageCount: 1000,
  currentPage: 1,
})
