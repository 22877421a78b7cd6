import type { Answer } from '../../lib/contract/contract.ts'
import type { field as fieldAnswer, webForm } from '../../lib/contract/fields/contract.ts'
import { fieldTypeName, imageVerification } from '../../lib/fields/catalogue.ts'
import type { SystemField, WebFormSummary } from '../../lib/fields/web-forms.ts'
import { tagOf } from '../../lib/http/conditions.ts'
import type { Link, SiteUrls } from '../../lib/http/links.ts'

/** A web form as callers see it (decisions.md, section 8). */
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

/** A field as callers see it (api.md, "System web form field"); `self` is its URL. */
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

/** Names the state of a field, for `ETag` and `If-Match`: all of its members, in whichever order a store has put them. */
export const fieldTag = (field: SystemField): string => tagOf(Object.entries(field).sort())

/** A list as the first version of the API wraps it (api.md, "Field list response"). */
export interface WholeList<Item> {
  readonly links: readonly Link[]
  readonly items: readonly Item[]
  readonly totalItemsCount: number
  readonly itemsPerPageCount: number
  readonly currentPage: number
}

/** These lists have one page, whatever is on it. */
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
