import type { ServerResponse } from 'node:http'
import { ServiceError } from '../lib/core/errors.ts'

// Bytes, for all servers of the process together.
const mostWaiting = 256 * 1024 * 1024
// Milliseconds in which a reader has taken nothing: it is cut off when there is no room.
const patience = 10_000

export type WaitingAnswers = ReturnType<typeof createWaitingAnswers>

/** Answers that may have to wait in memory for their readers (O-21). */
export const createWaitingAnswers = (most = mostWaiting, now = () => performance.now()) => {
  // The reader that has taken nothing for the longest comes first.
  const readers = new Map<ServerResponse, { readonly bytes: number; readonly since: number }>()
  let total = 0

  const release = (response: ServerResponse): void => {
    total -= readers.get(response)?.bytes ?? 0
    readers.delete(response)
  }

  return {
    /** Counts the bytes until the response closes. Errors: unavailable, without room. */
    admit(response: ServerResponse, bytes: number): void {
      for (const [idle, { since }] of readers) {
        if (total + bytes <= most || now() - since < patience) break
        release(idle)
        idle.destroy()
      }
      if (total + bytes > most) throw new ServiceError('unavailable')
      // Its close is over.
      if (response.destroyed) return
      total += bytes
      readers.set(response, { bytes, since: now() })
      response.once('close', () => release(response))
    },

    /** The reader has taken something. */
    progressed(response: ServerResponse): void {
      const reader = readers.get(response)
      if (reader && readers.delete(response)) readers.set(response, { ...reader, since: now() })
    },
  }
}

export const waitingInProcess = createWaitingAnswers()
