import { ServiceError } from './service-error.ts'

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: string | undefined
}

const endless = () =>
  new ServiceError({
    status: 200,
    code: 200,
    message:
      'The list has no end, because a page names an earlier page as the next page. ' +
      'Check the address and any proxy in between.',
  })

/**
 * Reads a list page by page. Pages may be empty. Errors: a `ServiceError` if the pages form a cycle. Compares each
 * position with one kept position, and replaces the kept position after 1, 2, 4, 8, … pages. This detects a cycle of
 * any length (R. P. Brent, 1980).
 */
export async function* paginate<Item>(
  read: (position: string | undefined) => Promise<Page<Item>>,
  start?: string,
): AsyncGenerator<Item, void, undefined> {
  let position = start
  let kept = start
  for (let pages = 1, keepAt = 1; ; pages++) {
    const { items, next } = await read(position)
    yield* items
    if (next === undefined) return
    if (next === kept) throw endless()
    if (pages === keepAt) {
      kept = next
      keepAt *= 2
    }
    position = next
  }
}
