import { capitalised, type ObjectKind, objectKindNames, recordOf } from '../../core/content-kinds.ts'
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

export const ofEachKind = <Act extends keyof Names, Value>(
  act: Act,
  make: (kind: ObjectKind) => Value,
): Readonly<Record<Names[Act], Value>> => recordOf(objectKindNames.map((kind) => [operationsOf(kind)[act], make(kind)]))

const v3 = '/webresources/api/v3/sites/{site}'
const categories = `${v3}/categories`

const group = 'categories' as const

const routesOfCategory = (kind: ObjectKind) => {
  const { segment, numbers } = objectKinds[kind]
  const { list, link, unlink } = operationsOf(kind)
  const row = <Operation extends string>(operation: Operation, method: string, number: number | undefined) => ({
    operation,
    ...(number !== undefined && { number }),
    method,
    path: `${categories}/{category}/${segment}`,
    group,
  })
  return [row(list, 'GET', numbers[0]), row(link, 'POST', numbers[1]), row(unlink, 'DELETE', numbers[2])]
}

const routesOfObjects = (kind: ObjectKind) => {
  const { listAll, listCategories, linkCategories, unlinkCategories } = operationsOf(kind)
  const objects = `${v3}/${objectKinds[kind].segment}`
  const path = `${objects}/{object}/categories`
  return [
    { operation: listAll, method: 'GET', path: objects, group },
    { operation: listCategories, method: 'GET', path, group },
    { operation: linkCategories, method: 'POST', path, group },
    { operation: unlinkCategories, method: 'DELETE', path, group },
  ] as const
}

export const categoriesRoutes = [
  ...objectKindNames.flatMap(routesOfCategory),
  { operation: 'listCategories', method: 'GET', path: categories, group },
  { operation: 'getCategory', method: 'GET', path: `${categories}/{category}`, group },
  ...objectKindNames.flatMap(routesOfObjects),
  { operation: 'listSiteUrls', method: 'GET', path: `${v3}/siteurls`, group },
] as const
