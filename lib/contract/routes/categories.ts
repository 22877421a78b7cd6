import { type ObjectKind, objectKindNames } from '../../core/content-kinds.ts'
import { capitalised, recordOf } from '../../core/names.ts'
import { objectKinds } from '../../core/object-kinds.ts'

export const operationsOf = (kind: ObjectKind) => {
  const plural = capitalised(objectKinds[kind].segment)
  return {
    list: `list${plural}OfCategory`,
    link: `link${plural}`,
    unlink: `unlink${plural}`,
    listCategories: `listCategoriesOf${capitalised(kind)}`,
    listAll: `list${plural}`,
    linkCategories: `linkCategoriesOf${capitalised(kind)}`,
    unlinkCategories: `unlinkCategoriesOf${capitalised(kind)}`,
  } as const
}

type Names = ReturnType<typeof operationsOf>

/** Calls `make` for each kind. The result has one member for each operation of each kind. */
export const ofEachKind = <Value>(
  make: (kind: ObjectKind) => Readonly<Record<keyof Names, Value>>,
): Readonly<Record<Names[keyof Names], Value>> =>
  recordOf(
    objectKindNames.flatMap((kind) => {
      const [names, made] = [operationsOf(kind), make(kind)]
      return (Object.keys(names) as (keyof Names)[]).map((act) => [names[act], made[act]] as const)
    }),
  )

const v3 = '/webresources/api/v3/sites/{site}'
const categories = `${v3}/categories`

const group = 'categories' as const
const read = { group, right: 'categories:read' } as const
const write = { group, right: 'categories:write' } as const

const routesOfCategory = (kind: ObjectKind) => {
  const { list, link, unlink } = operationsOf(kind)
  const path = `${categories}/{category}/${objectKinds[kind].segment}`
  return [
    { operation: list, method: 'GET', path, ...read },
    { operation: link, method: 'POST', path, ...write },
    { operation: unlink, method: 'DELETE', path, ...write },
  ] as const
}

const routesOfObjects = (kind: ObjectKind) => {
  const { listAll, listCategories, linkCategories, unlinkCategories } = operationsOf(kind)
  const objects = `${v3}/${objectKinds[kind].segment}`
  const path = `${objects}/{object}/categories`
  return [
    { operation: listAll, method: 'GET', path: objects, ...read },
    { operation: listCategories, method: 'GET', path, ...read },
    { operation: linkCategories, method: 'POST', path, ...write },
    { operation: unlinkCategories, method: 'DELETE', path, ...write },
  ] as const
}

export const categoriesRoutes = [
  ...objectKindNames.flatMap(routesOfCategory),
  { operation: 'listCategories', method: 'GET', path: categories, ...read },
  { operation: 'getCategory', method: 'GET', path: `${categories}/{category}`, ...read },
  ...objectKindNames.flatMap(routesOfObjects),
  { operation: 'listSiteUrls', method: 'GET', path: `${v3}/siteurls`, ...read },
] as const
