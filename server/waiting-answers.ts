import type { ServerResponse } from 'node:http'
import { ServiceError } from '../lib/core/errors.ts'

// Bytes, for all servers of the process together.
const mostWaiting = 256 * 1024 * 1024
// Milliseconds in which a reader takes nothing. While there is room, only the silence of a connection is limited.
const patience = 10_000

/** Answers that may have to wait in memory for their readers. */
export interface WaitingAnswers {
  /**
   * Counts the bytes until the response closes. Without room, cuts off readers that have taken nothing for 10 s.
   * Errors: unavailable, when they make no room and the answer `canBeRefused`.
   */
  admit(response: ServerResponse, bytes: number, canBeRefused: boolean): void
  /** The reader has taken something. */
  progressed(response: ServerResponse): void
}

export const createWaitingAnswers = (most = mostWaiting, now = () => performance.now()): WaitingAnswers => {
  // The reader that has taken nothing for the longest comes first.
  const readers = new Map<ServerResponse, { readonly bytes: number; readonly since: number }>()
  let total = 0

  const release = (response: ServerResponse): void => {
    total -= readers.get(response)?.bytes ?? 0
    readers.delete(response)
  }

  return {
    admit(response, bytes, canBeRefused) {
      // Its `close` is over.
      if (response.destroyed) return
      for (const [idle, { since }] of readers) {
        if (total + bytes <= most || now() - since < patience) break
        release(idle)
        idle.destroy()
      }
      if (canBeRefused && total + bytes > most) {
        throw new ServiceError('unavailable', { cause: new Error(`Answers of ${total} bytes wait for their readers`) })
      }
      total += bytes
      readers.set(response, { bytes, since: now() })
      response.once('close', () => release(response))
    },

    progressed(response) {
      const reader = readers.get(response)
      if (!reader) return
      readers.delete(response)
      readers.set(response, { ...reader, since: now() })
    },
  }
}

export const waitingInProcess = createWaitingAnswers()
