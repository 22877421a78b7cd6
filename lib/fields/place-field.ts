import { invalidInput } from '../errors.ts'
import { maxOrder, type SystemField } from './web-form.ts'

/**
 * Places a field among the others of its form and answers all of them, sorted by order (decisions.md, section 3).
 * On a taken position, the field that has it and those directly behind it move down by one, no further than the
 * first gap. Without an order, the field goes behind the last one.
 *
 * `others` are sorted by order and do not hold the field itself: a field that moves leaves its old position first.
 * Errors: fieldsMalformed when the last position there is would have to move.
 */
export const placeField = (
  others: readonly SystemField[],
  { order, ...field }: Omit<SystemField, 'order'> & { readonly order?: number | undefined },
): SystemField[] => {
  const position = order ?? (others.at(-1)?.order ?? 0) + 1
  const before = others.filter((other) => other.order < position)
  let free = position
  const behind = others.slice(before.length).map((other) => {
    if (other.order > free) return other
    free = other.order + 1
    return { ...other, order: free }
  })
  if (Math.max(position, free) > maxOrder) {
    throw invalidInput('fieldsMalformed', [
      { path: 'order', message: `there is no free position at or behind this one; the last is ${maxOrder}` },
    ])
  }
  return [...before, { ...field, order: position }, ...behind]
}
