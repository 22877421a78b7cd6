import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { type Answer, isRead, type Send } from '../lib/http/request.ts'
import type { WaitingAnswers } from './waiting-answers.ts'

/** Answers to a request whose body is still arriving. */
export interface EarlyAnswers {
  // Limits for reading the rest of the body, so that the caller gets the answer and not a broken connection.
  readonly bytes: number
  readonly ms: number
  // Answer only after the body: the proxy in front reads no answer earlier.
  readonly comeLast: boolean
}

// For callers that connect to the server directly.
export const atOnce: EarlyAnswers = { bytes: 16 * 1024 * 1024, ms: 2_000, comeLast: false }

const discardRest = async (request: IncomingMessage, { bytes, ms }: EarlyAnswers): Promise<void> => {
  const timer = setTimeout(() => request.destroy(), ms)
  let length = 0
  try {
    for await (const chunk of request) {
      length += chunk.length
      if (length > bytes) return
    }
  } catch {
    // The caller has gone, or was too slow: its answer is written in either case.
  } finally {
    clearTimeout(timer)
  }
}

const untilDrained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })

// Throws the stream's error, and when the length is not as declared.
const writeStream = async (
  first: IteratorResult<Uint8Array>,
  rest: AsyncIterator<Uint8Array>,
  declared: number | undefined,
  response: ServerResponse,
  progressed: WaitingAnswers['progressed'],
): Promise<void> => {
  let length = 0
  for (let chunk = first; !chunk.done; chunk = await rest.next()) {
    length += chunk.value.length
    if (declared !== undefined && length > declared) break
    if (!response.write(chunk.value)) await untilDrained(response)
    if (response.destroyed) return
    progressed(response)
  }
  if (declared !== undefined && length !== declared) {
    throw new Error(`The bytes of an answer are not the ${declared} that it declares`)
  }
}

// Bytes that the socket of a slow reader keeps.
const pieceSize = 64 * 1024

// Answers up to this size are always sent.
const uncounted = 16 * 1024

function* piecesOf(body: string | Uint8Array): Generator<Uint8Array, void> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  for (let start = 0; start < bytes.length; start += pieceSize) yield bytes.subarray(start, start + pieceSize)
}

const lengthOf = ({ headers, body }: Answer): number | undefined => {
  if (!(body instanceof Readable)) return Buffer.byteLength(body)
  return headers['Content-Length'] === undefined ? undefined : Number(headers['Content-Length'])
}

const hasLength = (status: number) => status !== 204 && status !== 304

/** Sends answers on a response. `isWaiting` tells whether the caller still waits for 100 Continue. */
export const sendOn = (
  request: IncomingMessage,
  response: ServerResponse,
  isWaiting: () => boolean,
  early: EarlyAnswers,
  waiting: WaitingAnswers,
): Send<void> => {
  const writeHead = ({ status, headers }: Answer, length: number | undefined): boolean => {
    const unread = !request.complete
    response.writeHead(status, {
      ...(length !== undefined && hasLength(status) && { 'Content-Length': length }),
      ...headers,
      ...(unread && { Connection: 'close' }),
    })
    return unread
  }

  const finish = async (unread: boolean): Promise<void> => {
    if (unread) response.flushHeaders()
    if (unread && !isWaiting()) await discardRest(request, early)
    response.end()
  }

  const sendWhole = (answer: Answer, body: string | Uint8Array, length: number | undefined): void | Promise<void> => {
    const unread = writeHead(answer, length)
    // As many bytes as characters: it is ASCII, which is written faster as Latin 1.
    const encoding = length === body.length ? 'latin1' : 'utf8'
    if (!unread) {
      response.end(body, encoding)
      return
    }
    response.write(body, encoding)
    return finish(unread)
  }

  // A failure on either side breaks the connection: half a file must not look complete.
  const sendStream = async (
    answer: Answer,
    stream: Readable,
    length: number | undefined,
    cut: (failure: unknown) => void,
  ): Promise<void> => {
    const stop = () => stream.destroy()
    response.once('close', stop)
    const chunks: AsyncIterator<Uint8Array> = stream[Symbol.asyncIterator]()
    try {
      // Until the first bytes are there, another answer can still be given.
      const first = await chunks.next()
      const unread = writeHead(answer, length)
      await writeStream(first, chunks, length, response, waiting.progressed)
      if (!response.destroyed) await finish(unread)
    } catch (error) {
      // The caller has gone, and its going has ended the stream.
      if (response.destroyed) return
      if (!response.headersSent) throw error
      response.destroy()
      cut(error)
    } finally {
      response.off('close', stop)
      stream.destroy()
    }
  }

  const send: Send<void> = (answer, cut) => {
    const { body } = answer
    const length = lengthOf(answer)
    if (request.method === 'HEAD') {
      if (body instanceof Readable) body.destroy()
      return sendWhole(answer, '', length)
    }
    const piece = Math.min(length ?? pieceSize, pieceSize)
    const kept = typeof body === 'string' ? (length ?? piece) : piece
    if (kept > uncounted) waiting.admit(response, kept, isRead(request.method ?? ''))
    if (body instanceof Readable) return sendStream(answer, body, length, cut)
    if (length === piece) return sendWhole(answer, body, length)
    return sendStream(answer, Readable.from(piecesOf(body)), length, cut)
  }

  return (answer, cut) => {
    if (!early.comeLast || request.complete || isWaiting()) return send(answer, cut)
    return discardRest(request, early).then(() => send(answer, cut))
  }
}
