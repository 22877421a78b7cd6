/** One page of a list: what is on it, and where the next one begins; undefined when there is none. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: string | undefined
}

/** Goes through a list page by page, each read when the one before is used up. A page may be empty although others follow. */
export async function* through<Item>(
  read: (position: string | undefined) => Promise<Page<Item>>,
  start?: string,
): AsyncGenerator<Item, void, undefined> {
  let position = start
  do {
    const { items, next } = await read(position)
    yield* items
    position = next
  } while (position !== undefined)
}
