import type { TextReply } from './reply.ts'

export type CacheReply = (key: string, make: () => Promise<TextReply>) => Promise<TextReply>

const largestCache = 4_000_000

/** Keeps replies until `stateOf` returns another name. Names never repeat. Without a name, nothing is kept. */
export const createReplyCache = (stateOf: () => Promise<string | undefined>): CacheReply => {
  let state: string | undefined
  let length = 0
  const kept = new Map<string, TextReply>()

  const keep = (key: string, reply: TextReply) => {
    if (kept.has(key)) return
    kept.set(key, reply)
    length += reply.text.body.length
    for (const [oldest, { text }] of kept) {
      if (length <= largestCache) return
      kept.delete(oldest)
      length -= text.body.length
    }
  }

  return async (key, make) => {
    // Read the state first: a reply with data from before a change must not be kept for the state after it.
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
