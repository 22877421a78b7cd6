import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'

/** A slow call either waits before it reaches the store, or its answer waits. */
export type SlowWay = 'there' | 'back'

/** Waits like the handler of the client: a signal ends the wait with the error of the handler. */
const untilOpen = (gate: Promise<void>, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const cut = () => reject(Object.assign(new Error('Request aborted'), { name: 'AbortError' }))
    if (signal?.aborted) cut()
    signal?.addEventListener('abort', cut, { once: true })
    void gate.then(resolve)
  })

/**
 * Slows the transport of a client: each write waits until `goOn`, before it is sent or before its answer arrives. The
 * signal of a call cuts it off, as on a real connection. This simulates a function that is frozen and thawed later.
 * `goOn` returns when no change waits any more.
 */
export const slowDown = ({ config }: DynamoDBDocumentClient, way: SlowWay): { readonly goOn: () => Promise<void> } => {
  const gate = Promise.withResolvers<void>()
  const held: Promise<unknown>[] = []
  const { requestHandler } = config
  const handle = requestHandler.handle.bind(requestHandler)
  requestHandler.handle = (request, options) => {
    if (!/\.(Put|Update|Delete|BatchWrite)/.test(request.headers['x-amz-target'] ?? '')) return handle(request, options)
    const { abortSignal }: { readonly abortSignal?: unknown } = options ?? {}
    const signal = abortSignal instanceof AbortSignal ? abortSignal : undefined
    const slowly = async () => {
      if (way === 'there') await untilOpen(gate.promise, signal)
      const answer = await handle(request)
      if (way === 'back') await untilOpen(gate.promise, signal)
      return answer
    }
    const call = slowly()
    held.push(call)
    return call
  }
  return {
    async goOn() {
      gate.resolve()
      await Promise.allSettled(held)
    },
  }
}
