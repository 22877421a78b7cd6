import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { giveBack, pieceSize } from '../lib/core/pieces.ts'
import type { Answer, HandledRequest, Sent } from '../lib/http/request.ts'
import type { WaitingAnswers } from './slow-callers.ts'

/**
 * Answers a request whose body is still arriving. Reads as much of the rest as `bytes` and `ms` allow, so that the
 * caller gets the answer instead of a broken connection. With `waitForBody`, the proxy in front of the service reads no
 * answer before the whole body is sent. `strangers` are the limits for callers without a valid token.
 */
export interface EarlyAnswers extends BodyLimits {
  readonly waitForBody: boolean
  readonly strangers?: BodyLimits
}

interface BodyLimits {
  readonly bytes: number
  readonly ms: number
}

export const atOnce: EarlyAnswers = { bytes: 16 * 1024 * 1024, ms: 2_000, waitForBody: false }

const discardRest = async (request: IncomingMessage, { bytes, ms }: BodyLimits): Promise<void> => {
  using _timer = setTimeout(() => request.destroy(), ms)
  let length = 0
  try {
    for await (const chunk of request) {
      length += chunk.length
      if (length > bytes) return
    }
  } catch {
    // The caller has disconnected, or was too slow. The service sends its answer in both cases.
  }
}

// Rejects with the error of the stream, or with an error if the length is not the declared length. Reads with a
// listener, which keeps no chunk. A loop would keep the last chunk and promises while it waits for the next chunk.
const writeStream = async (
  stream: Readable,
  declared: number | undefined,
  response: ServerResponse,
  prepare: () => void,
): Promise<void> => {
  let length = 0
  const wrongLength = () => new Error(`The answer does not have the ${declared} bytes that it declares`)
  const resume = () => stream.resume()
  const write = (chunk: Uint8Array): void => {
    if (response.destroyed) return void stream.destroy()
    prepare()
    length += chunk.length
    if (declared !== undefined && length > declared) throw wrongLength()
    if (!response.write(chunk, () => giveBack(chunk))) stream.pause()
  }
  response.on('drain', resume)
  stream.on('data', (chunk: Uint8Array) => {
    try {
      write(chunk)
    } catch (error) {
      stream.destroy(error as Error)
    }
  })
  try {
    await finished(stream, { writable: false })
  } finally {
    response.off('drain', resume)
  }
  if (declared !== undefined && length !== declared) throw wrongLength()
}

// In bytes. Smaller answers, and answers to changes, are always sent.
const uncounted = 16 * 1024

function* piecesOf(body: string | Uint8Array): Generator<Uint8Array, void> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  for (let start = 0; start < bytes.length; start += pieceSize) yield bytes.subarray(start, start + pieceSize)
}

/** `isWaiting` is true while the caller waits for 100 Continue before it sends the body. */
export interface Exchange {
  readonly response: ServerResponse
  readonly isWaiting: () => boolean
}

const uncut: Sent = {}

/** Sends the answer, and records the request. Throws only if not even an error answer can be sent. */
export const sendAnswer = async (
  handled: HandledRequest,
  { response, isWaiting }: Exchange,
  early: EarlyAnswers,
  waiting: WaitingAnswers,
): Promise<void> => {
  const { req: request } = response
  const writeHead = ({ status, headers }: Answer, length?: number): boolean => {
    const unread = !request.complete
    response.writeHead(status, {
      ...(length !== undefined && status !== 204 && status !== 304 && { 'Content-Length': length }),
      ...headers,
      ...(unread && { Connection: 'close' }),
    })
    return unread
  }

  const finish = async (unread: boolean): Promise<Sent> => {
    if (unread && !isWaiting() && !early.waitForBody) await discardRest(request, early)
    response.end()
    return uncut
  }

  const sendWhole = (answer: Answer, body: string | Uint8Array): Sent | Promise<Sent> => {
    const length = Buffer.byteLength(body)
    const unread = writeHead(answer, length)
    // The text is ASCII, so it has as many bytes as characters. Writing it as Latin 1 is faster.
    const encoding = length === body.length ? 'latin1' : 'utf8'
    const isHead = request.method === 'HEAD'
    if (!unread) {
      response.end(isHead ? '' : body, encoding)
      return uncut
    }
    if (isHead) response.flushHeaders()
    else response.write(body, encoding)
    return finish(unread)
  }

  // A failure on either side breaks the connection, so that half a file never looks complete.
  const sendStream = async (answer: Answer, stream: Readable): Promise<Sent> => {
    const stop = () => stream.destroy()
    response.once('close', stop)
    const declared = answer.headers['Content-Length']
    let unread: boolean | undefined
    const prepare = () => {
      // Before the first bytes are sent, another answer is still possible.
      unread ??= writeHead(answer)
      waiting.progressed(response)
    }
    try {
      await writeStream(stream, declared === undefined ? undefined : Number(declared), response, prepare)
      return response.destroyed ? uncut : await finish(unread ?? writeHead(answer))
    } catch (error) {
      if (response.destroyed) return uncut
      if (!response.headersSent) throw error
      response.destroy()
      return { cut: error }
    } finally {
      response.off('close', stop)
      stream.destroy()
    }
  }

  const admit = (bytes: number): void => {
    if (bytes > uncounted && request.method === 'GET') waiting.admit(response, bytes)
  }

  const send = async (answer: Answer): Promise<Sent> => {
    const { body } = answer
    if (!(body instanceof Readable)) {
      const length = Buffer.byteLength(body)
      admit(typeof body === 'string' ? length : Math.min(length, pieceSize))
      if (request.method === 'HEAD' || length <= pieceSize) return sendWhole(answer, body)
      const headers = { 'Content-Length': `${length}`, ...answer.headers }
      return sendStream({ ...answer, headers }, Readable.from(piecesOf(body)))
    }
    // A stream of live changes needs no memory here: it sends small pieces, and has its own limit (V-24).
    if (answer.headers['Content-Length'] !== undefined) admit(pieceSize)
    if (request.method !== 'HEAD') return sendStream(answer, body)
    body.destroy()
    return finish(writeHead(answer))
  }

  if (early.waitForBody && !request.complete && !isWaiting()) {
    await discardRest(request, handled.answer.toStranger ? (early.strangers ?? early) : early)
  }
  let last = handled
  const sent = await send(handled.answer).catch((failure) => {
    last = handled.withError(failure)
    return send(last.answer)
  })
  last.record(sent)
}
