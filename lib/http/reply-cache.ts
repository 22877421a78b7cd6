import type { TextReply } from './reply.ts'

const largestCache = 4_000_000

const sizeOf = (key: string, { text }: TextReply): number => key.length + text.body.length

/**
 * Keeps each reply until `stateOf` returns another name. A name is never used for two states. Without a name, no reply
 * is kept.
 */
export const createReplyCache = (stateOf: () => Promise<string | undefined>) => {
  let state: string | undefined
  let length = 0
  const kept = new Map<string, TextReply>()

  const keep = (key: string, reply: TextReply) => {
    if (kept.has(key)) return
    kept.set(key, reply)
    length += sizeOf(key, reply)
    for (const [oldest, old] of kept) {
      if (length <= largestCache) return
      kept.delete(oldest)
      length -= sizeOf(oldest, old)
    }
  }

  return async (key: string, make: () => Promise<TextReply>): Promise<TextReply> => {
    // Read the state before the data: a reply with old data must not be kept for a newer state.
    const present = await stateOf()
    if (present === undefined) return make()
    if (present !== state) {
      state = present
      length = 0
      kept.clear()
    }
    const known = kept.get(key)
    if (known) return known
    const reply = await make()
    if (present === state) keep(key, reply)
    return reply
  }
}
