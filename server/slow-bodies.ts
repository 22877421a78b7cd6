import type { IncomingMessage } from 'node:http'

export interface SlowestBody {
  readonly bytesPerSecond: number
  readonly seconds: number
}

interface Watched {
  readonly bytes: number
  readonly waited: number
  readonly isWaiting: () => boolean
}

const second = 1_000

/**
 * Ends requests whose bodies arrive too slowly, because each request occupies one of the few places of a process.
 * Counts only the time in which the service waits for the sender. It does not count while the sender waits for the
 * service or for 100 Continue (`isWaiting`).
 */
export const createBodyWatch = ({ bytesPerSecond, seconds }: SlowestBody) => {
  const open = new Map<IncomingMessage, Watched>()
  let timer: NodeJS.Timeout | undefined

  const judge = (request: IncomingMessage, { bytes, waited, isWaiting }: Watched): void => {
    if (request.readableLength > 0 || isWaiting()) return
    if (waited + 1 < seconds) {
      open.set(request, { bytes, waited: waited + 1, isWaiting })
      return
    }
    const received = request.socket.bytesRead
    open.set(request, { bytes: received, waited: 0, isWaiting })
    if (received - bytes < bytesPerSecond * seconds) request.destroy()
  }

  const look = (): void => {
    for (const [request, watched] of open) {
      if (request.complete || request.destroyed) open.delete(request)
      else judge(request, watched)
    }
    if (open.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return (request: IncomingMessage, isWaiting: () => boolean): void => {
    if (request.complete) return
    open.set(request, { bytes: request.socket.bytesRead, waited: 0, isWaiting })
    timer ??= setInterval(look, second).unref()
  }
}
