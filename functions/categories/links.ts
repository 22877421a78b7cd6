import { link, unlink } from '../../lib/categories/category-links.ts'
import type { ObjectKind } from '../../lib/core/content-kinds.ts'
import { bodyOf, categoryOf, objectOf, operation, removalOf } from './params.ts'

/** C-37 to C-40 (operations 7 and 10). 404/220001 for an unknown category, 404/220002 for an unknown object. */
export const linkObjects = (kind: ObjectKind) =>
  operation({ params: categoryOf, body: bodyOf('linkBody') }, async (input, deps) => {
    const { site, params, body, path, author, deadline } = input
    const items = body.items.map(({ objectId: id, displayable }) => ({ id, displayable }))
    await link(deps, { site: site.id, kind, category: params.category }, items, author, deadline)
    return { status: 201, headers: { Location: path } }
  })

/** C-43 to C-45 (operations 8 and 11). 404/220001 for an unknown category. */
export const unlinkObjects = (kind: ObjectKind) =>
  operation({ params: categoryOf, body: removalOf('unlinkBody') }, async (input, deps) => {
    const { site, params, body, path, author, deadline } = input
    const ids = body.items.map(({ objectId }) => objectId)
    await unlink(deps, { site: site.id, kind, category: params.category }, ids, author, deadline)
    return { status: 204, headers: { Location: path } }
  })

/**
 * C-46 to C-48. `unlinkCategories` has the same errors: 404/220002 for an unknown object, 404/220001 for an unknown
 * category.
 */
export const linkCategories = (kind: ObjectKind) =>
  operation({ params: objectOf, body: bodyOf('linkCategoriesBody') }, async (input, deps) => {
    const { site, params, body, path, author, deadline } = input
    const items = body.items.map(({ categoryId: id, displayable }) => ({ id, displayable }))
    await link(deps, { site: site.id, kind, id: params.object }, items, author, deadline)
    return { status: 201, headers: { Location: path } }
  })

export const unlinkCategories = (kind: ObjectKind) =>
  operation({ params: objectOf, body: removalOf('unlinkCategoriesBody') }, async (input, deps) => {
    const { site, params, body, path, author, deadline } = input
    const categories = body.items.map(({ categoryId }) => categoryId)
    await unlink(deps, { site: site.id, kind, id: params.object }, categories, author, deadline)
    return { status: 204, headers: { Location: path } }
  })
