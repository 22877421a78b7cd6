import { ServiceError } from '../../lib/core/errors.ts'
import { type CategoryId, largestContentId, parseId } from '../../lib/core/ids.ts'
import type { Segments } from '../../lib/http/operation.ts'

const idIn = <Id extends number>(segment: string | undefined): Id | undefined => {
  const id = parseId<Id>(segment ?? '')
  return id !== undefined && id >= 1 && id <= largestContentId ? id : undefined
}

/** Errors: categoryUnknown, even for a malformed id. */
export const categoryOf = (segments: Segments): { category: CategoryId } => {
  const category = idIn<CategoryId>(segments['category'])
  if (category === undefined) throw new ServiceError('categoryUnknown')
  return { category }
}

/** Errors: objectUnknown, even for a malformed id. */
export const objectOf = (segments: Segments): { object: number } => {
  const object = idIn(segments['object'])
  if (object === undefined) throw new ServiceError('objectUnknown')
  return { object }
}

export const bodies = {
  schemas: () => import('../../lib/contract/categories/items-body.ts'),
  malformed: 'categoriesMalformed' as const,
}

export const removals = {
  ...bodies,
  form: async (text: string) => (await import('../../lib/http/form.ts')).readForm(text),
  inQuery: true as const,
}
