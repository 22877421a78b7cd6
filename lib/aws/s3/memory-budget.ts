/** Bytes that may wait in memory, for all requests together. */
export interface MemoryBudget {
  /** Answers false when there is not so much left. */
  reserve(bytes: number): boolean
  release(bytes: number): void
}

export const createMemoryBudget = (total: number): MemoryBudget => {
  let left = total
  return {
    reserve(bytes) {
      if (bytes > left) return false
      left -= bytes
      return true
    },
    release(bytes) {
      left += bytes
    },
  }
}
