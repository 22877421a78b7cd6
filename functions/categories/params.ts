import { ServiceError } from '../../lib/core/errors.ts'
import { type CategoryId, largestContentId, parseId } from '../../lib/core/ids.ts'

type Segments = Readonly<Record<string, string>>

const idIn = <Id extends number>(segment: string | undefined): Id | undefined => {
  const id = parseId<Id>(segment ?? '')
  return id !== undefined && id >= 1 && id <= largestContentId ? id : undefined
}

/** The category that a path names. Errors: categoryUnknown, also for what cannot be the id of one. */
export const categoryOf = (segments: Segments): { category: CategoryId } => {
  const category = idIn<CategoryId>(segments['category'])
  if (category === undefined) throw new ServiceError('categoryUnknown')
  return { category }
}

/** The object that a path names. Errors: objectUnknown, also for what cannot be the id of one. */
export const objectOf = (segments: Segments): { object: number } => {
  const object = idIn(segments['object'])
  if (object === undefined) throw new ServiceError('objectUnknown')
  return { object }
}

/** What a body says that comes as a form. Its reader is loaded when the first caller sends one: most never do. */
export const readForm = async (text: string): Promise<unknown> =>
  (await import('../../lib/http/form.ts')).readForm(text)
