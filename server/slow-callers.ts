import type { IncomingMessage, ServerResponse } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ServiceError } from '../lib/core/errors.ts'

export interface SlowestBody {
  readonly bytesPerSecond: number
  readonly seconds: number
}

/**
 * Ends requests whose bodies arrive too slowly, because each request occupies one of the few places of a process.
 * Counts only the time in which the service waits for the sender. It does not count while the sender waits for the
 * service or for 100 Continue (`isWaiting`).
 */
export const watchBody = (request: IncomingMessage, isWaiting: () => boolean, slowest: SlowestBody): void => {
  const { bytesPerSecond, seconds } = slowest
  let bytes = request.socket.bytesRead
  let waited = 0
  const look = (): void => {
    if (request.complete || request.destroyed) return void clearInterval(timer)
    if (request.readableLength > 0 || isWaiting()) return
    waited += 1
    if (waited < seconds) return
    const received = request.socket.bytesRead
    if (received - bytes < bytesPerSecond * seconds) request.destroy()
    bytes = received
    waited = 0
  }
  const timer = setInterval(look, 1_000).unref()
}

// `mostWaiting` is in bytes, for all servers of the process together. When no memory is left, readers that have read
// nothing for `patience` milliseconds are cut off. An idle process collects no garbage, so it would keep memory after
// its readers have ended.
const mostWaiting = 256 * 1024 * 1024
const patience = 10_000
const garbage = { bytes: 16 * 1024 * 1024, calm: 1_000 }

const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc')
  const collect: NodeJS.GCFunction = runInNewContext('gc')
  collect({ type: 'major', execution: 'async', flavor: 'last-resort' }).catch(() => {})
}

export type WaitingAnswers = ReturnType<typeof createWaitingAnswers>

/** Answers that may have to wait in memory for their readers (O-21). The answer with the newest read is at the end. */
export const createWaitingAnswers = (most = mostWaiting, now = () => performance.now()) => {
  const readers = new Map<ServerResponse, { readonly bytes: number; readonly since: number }>()
  let total = 0
  let peak = 0

  const tidyUp = () => {
    if (total > 0 || peak === 0) return
    peak = 0
    collectGarbage()
  }

  const release = (response: ServerResponse): void => {
    total -= readers.get(response)?.bytes ?? 0
    readers.delete(response)
    if (total === 0 && peak >= garbage.bytes) setTimeout(tidyUp, garbage.calm).unref()
  }

  return {
    /** Counts the bytes until the response closes. Errors: unavailable, when no memory is left. */
    admit(response: ServerResponse, bytes: number): void {
      for (const [idle, { since }] of readers) {
        if (total + bytes <= most || now() - since < patience) break
        release(idle)
        idle.destroy()
      }
      if (total + bytes > most) throw new ServiceError('unavailable')
      if (response.destroyed) return
      total += bytes
      peak = Math.max(peak, total)
      readers.set(response, { bytes, since: now() })
      response.once('close', () => release(response))
    },

    progressed(response: ServerResponse): void {
      const reader = readers.get(response)
      if (reader && readers.delete(response)) readers.set(response, { ...reader, since: now() })
    },
  }
}

export const waitingInProcess = createWaitingAnswers()
