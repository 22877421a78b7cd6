import type { Answer } from '../../lib/contract/contract.ts'
import type { field as fieldAnswer, webForm } from '../../lib/contract/fields/contract.ts'
import { fieldTypeName, imageVerification, type SystemField, type WebFormSummary } from '../../lib/fields/web-forms.ts'
import { tagOf } from '../../lib/http/conditions.ts'
import type { SiteUrls } from '../../lib/http/links.ts'

export const webFormView = ({ id, name }: WebFormSummary, urls: SiteUrls): Answer<typeof webForm> => ({
  links: [
    { rel: 'self', uri: urls.webForm(id) },
    { rel: 'systemFields', uri: urls.fields(id) },
  ],
  id,
  name,
})

export const fieldView = (field: SystemField, self: string): Answer<typeof fieldAnswer> => {
  const { typeId, name, mandatory, order } = field
  const typeName = fieldTypeName(typeId) ?? ''
  return {
    links: [{ rel: 'self', uri: self }],
    id: typeId,
    name: name ?? (typeId === imageVerification.id ? imageVerification.fieldName : typeName),
    type: { id: typeId, name: typeName },
    mandatory,
    order,
  }
}

// The order of the members is fixed here, because stores may return them in another order.
export const fieldTag = (field: SystemField): string => tagOf(Object.entries(field).sort())

/** F-5: in the first version of the API, a list always had one page. */
export const wholeList = <Item>(self: string, items: readonly Item[]) => ({
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
