import { categoriesDoc } from './categories/docs.ts'
import { documentationDoc } from './documentation/docs.ts'
import { fieldsDoc } from './fields/docs.ts'
import type { GroupDoc } from './operation-doc.ts'
import type { routes } from './routes.ts'
import { storageDoc } from './storage/docs.ts'

/** What the document says of each group. Nothing that runs for a request loads this. */
export const docs = {
  categories: categoriesDoc,
  documentation: documentationDoc,
  fields: fieldsDoc,
  storage: storageDoc,
} satisfies {
  readonly [Name in (typeof routes)[number]['group']]: GroupDoc<Name>
}
