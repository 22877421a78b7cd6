import type { Staged } from './object-store.ts'

/** Staged contents until they are placed or discarded. Those in memory share `memory` bytes. */
export const createStagedContents = <Content extends { readonly size: number }>(
  memory: number,
  isInMemory: (content: Content) => boolean,
) => {
  const contents = new Map<Staged, Content>()
  let free = memory

  const take = (staged: Staged): Content | undefined => {
    const content = contents.get(staged)
    if (contents.delete(staged) && content && isInMemory(content)) free += content.size
    return content
  }

  return {
    take,

    /** Reserves memory for a content. False when too little memory is left. */
    reserve(bytes: number): boolean {
      if (bytes > free) return false
      free -= bytes
      return true
    },

    /** `discard` removes what the content has outside of memory. */
    keep(
      content: Content,
      discard: (content: Content) => Promise<void> = async () => {},
      known: Pick<Staged, 'reserved' | 'claim'> = {},
    ): Staged {
      const staged: Staged = {
        ...known,
        size: content.size,
        async discard() {
          const taken = take(staged)
          if (taken) await discard(taken)
        },
      }
      contents.set(staged, content)
      return staged
    },

    of(staged: Staged): Content {
      const content = contents.get(staged)
      if (!content) throw new Error('This store has not staged these bytes')
      return content
    },
  }
}
