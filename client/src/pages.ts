import { ServiceError } from './service-error.ts'

/** One page of a list: what is on it, and where the next one begins; undefined when there is none. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: string | undefined
}

// A broken server, or another one, may name a page twice. The service never does.
const endless = () =>
  new ServiceError({
    status: 200,
    code: 200,
    message:
      'The list has no end: an answer names an earlier page as the next one. ' +
      'Check the address, and what stands between.',
  })

/**
 * Goes through a list page by page, each read when the one before is used up. A page may be empty although others
 * follow. Errors: a `ServiceError` when the pages go in a circle. One position is kept to see it by, and another one
 * after twice as many pages each time: a circle of any length comes by it again (R. P. Brent, 1980).
 */
export async function* through<Item>(
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
