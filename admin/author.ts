import { userInfo } from 'node:os'
import type { Author } from '../lib/history-entry.ts'

/** Whom the history names for what a command changes. */
const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that has no name.
    return String(process.getuid?.() ?? 'unknown')
  }
}

export const administrator: Author = { actor: `admin:${userName()}` }
