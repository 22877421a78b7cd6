import { recordOf } from '../lib/by-name.ts'
import { type ObjectKind, objectKindNames } from '../lib/categories/content-kinds.ts'
import { objectKinds } from '../lib/categories/object-kinds.ts'

/** As a name has it in the middle. */
export const capitalised = <Text extends string>(text: Text) =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}` as Capitalize<Text>

/** What the operations on objects of a kind are called. */
export const operationsOf = (kind: ObjectKind) => {
  const plural = capitalised(objectKinds[kind].segment)
  return {
    list: `list${plural}OfCategory`,
    link: `link${plural}`,
    unlink: `unlink${plural}`,
    listCategories: `listCategoriesOf${capitalised(kind)}`,
  } as const
}

type Names = ReturnType<typeof operationsOf>

/** One value for each kind of objects, under the name of what the operation does with them. */
export const ofEachKind = <Act extends keyof Names, Value>(
  act: Act,
  make: (kind: ObjectKind) => Value,
): Readonly<Record<Names[Act], Value>> => recordOf(objectKindNames.map((kind) => [operationsOf(kind)[act], make(kind)]))

const v3 = '/webresources/api/v3/sites/{site}'
const categories = `${v3}/categories`

/** The rows of the operations on a category's objects of a kind. */
const routesOfCategory = (kind: ObjectKind) => {
  const { segment, numbers } = objectKinds[kind]
  const { list, link, unlink } = operationsOf(kind)
  const row = <Operation extends string>(operation: Operation, method: string, number: number | undefined) => ({
    operation,
    ...(number !== undefined && { number }),
    method,
    path: `${categories}/{category}/${segment}`,
    group: 'categories' as const,
  })
  return [row(list, 'GET', numbers[0]), row(link, 'POST', numbers[1]), row(unlink, 'DELETE', numbers[2])]
}

/** The row of the categories of an object of a kind. */
const routeOfObject = (kind: ObjectKind) => ({
  operation: operationsOf(kind).listCategories,
  method: 'GET',
  path: `${v3}/${objectKinds[kind].segment}/{object}/categories`,
  group: 'categories' as const,
})

/**
 * The one route table. The router, the local server, the deployment and the API document all read it.
 * `number` is the operation's number in the contract (api.md); operations without one are neighbours that its clients need.
 * A GET route answers HEAD as well, and OPTIONS is answered on every path.
 */
export const routes = [
  { operation: 'getHealth', method: 'GET', path: '/health', group: 'fields', public: true },
  { operation: 'getOpenApi', method: 'GET', path: '/openapi.json', group: 'documentation', public: true },
  { operation: 'getReference', method: 'GET', path: '/docs', group: 'documentation', public: true },
  { operation: 'getReferenceAsset', method: 'GET', path: '/docs/{asset}', group: 'documentation', public: true },
  {
    operation: 'listFields',
    number: 1,
    method: 'GET',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system',
    group: 'fields',
  },
  {
    operation: 'getField',
    number: 2,
    method: 'GET',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system/{field}',
    group: 'fields',
  },
  {
    operation: 'createField',
    number: 3,
    method: 'POST',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system',
    group: 'fields',
  },
  {
    operation: 'updateField',
    number: 4,
    method: 'PUT',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system/{field}',
    group: 'fields',
  },
  {
    operation: 'deleteField',
    number: 5,
    method: 'DELETE',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system/{field}',
    group: 'fields',
  },
  { operation: 'listWebForms', method: 'GET', path: '/api/v1/admin/sites/{site}/webforms', group: 'fields' },
  { operation: 'getWebForm', method: 'GET', path: '/api/v1/admin/sites/{site}/webforms/{webForm}', group: 'fields' },
  {
    operation: 'listFieldTypes',
    method: 'GET',
    path: '/api/v1/admin/sites/{site}/webformfieldtypes/system',
    group: 'fields',
  },
  ...objectKindNames.flatMap(routesOfCategory),
  { operation: 'listCategories', method: 'GET', path: categories, group: 'categories' },
  { operation: 'getCategory', method: 'GET', path: `${categories}/{category}`, group: 'categories' },
  ...objectKindNames.map(routeOfObject),
  {
    operation: 'uploadToFolder',
    number: 12,
    method: 'POST',
    path: '/api/v2/admin/sites/{site}/storage/{path+}',
    group: 'storage',
  },
  {
    operation: 'uploadToRoot',
    number: 12,
    method: 'POST',
    path: '/api/v2/admin/sites/{site}/storage',
    group: 'storage',
  },
  { operation: 'readRoot', number: 13, method: 'GET', path: '/api/v2/admin/sites/{site}/storage', group: 'storage' },
  {
    operation: 'deletePath',
    number: 14,
    method: 'DELETE',
    path: '/api/v2/admin/sites/{site}/storage/{path+}',
    group: 'storage',
  },
  {
    operation: 'deleteRoot',
    number: 14,
    method: 'DELETE',
    path: '/api/v2/admin/sites/{site}/storage',
    group: 'storage',
  },
  { operation: 'readPath', method: 'GET', path: '/api/v2/admin/sites/{site}/storage/{path+}', group: 'storage' },
  { operation: 'putPath', method: 'PUT', path: '/api/v2/admin/sites/{site}/storage/{path+}', group: 'storage' },
  { operation: 'putRoot', method: 'PUT', path: '/api/v2/admin/sites/{site}/storage', group: 'storage' },
] as const

export type RouteOf<Group extends string> = Extract<(typeof routes)[number], { group: Group }>
export type OperationOf<Group extends string> = RouteOf<Group>['operation']

/** The path prefix of each group: what the gateway sends to that group's function. */
export const prefixes = [
  { group: 'documentation', prefix: '/openapi.json' },
  { group: 'documentation', prefix: '/docs' },
  { group: 'fields', prefix: '/api/v1' },
  { group: 'categories', prefix: '/webresources/api/v3' },
  { group: 'storage', prefix: '/api/v2' },
] as const

/** Paths outside every prefix go to this group, so that 404 and 405 have the service's own body there too. */
export const catchAllGroup = 'fields'
