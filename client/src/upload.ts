import { refuseDowngrade } from './addresses.ts'
import type { Call } from './call.ts'
import { hasStatus, refusal, ServiceError, unexpectedAnswer } from './service-error.ts'
import { type Source, Unreadable, type Watch } from './source.ts'
import { longestRetryAfter, pause, type Send } from './transport.ts'

export interface UploadProgress {
  /** The number of sent bytes. After a broken connection, it may decrease. */
  readonly sent: number
  readonly total: number
}

export interface ResumableOptions {
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined
  readonly signal?: AbortSignal | undefined
  /**
   * The address of an earlier upload of the same bytes. If that upload no longer exists or has another size, a new
   * upload starts.
   */
  readonly resume?: string | undefined
  /** Receives the address of the upload. Save it, to continue within a day after a crash. */
  readonly onBegun?: ((address: string) => void | Promise<void>) | undefined
}

export interface Destination {
  readonly folder: string
  readonly name: string
  readonly contentType?: string | undefined
  readonly condition: Readonly<Record<string, string>>
  readonly uploads: string
}

/**
 * In bytes: a piece that every installation accepts, the largest piece in memory, and the largest piece that is
 * streamed.
 */
const safePiece = 4_000_000
const largestHeld = 16 * 1024 ** 2
const largestStreamed = 1024 ** 3
// In milliseconds: the time that one piece should take. A broken connection loses at most one piece.
const pieceTime = 1000
const mostFruitlessAppends = 8

const tus = { 'Tus-Resumable': '1.0.0' }

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)))

interface State {
  readonly address: string
  readonly offset: number
}

const isGone = (error: unknown): boolean => hasStatus(error, 404, 410)

/** The largest piece that proxies in front of the service accept. All uploads of a client share it. */
export interface Limit {
  piece: number
  /** True when the service has refused an upload in parts, or its bucket did not answer. */
  hasNoParts?: boolean
  /** Only one group of parts is read and sent at a time. */
  lastGroup?: Promise<unknown>
}

export type SendFile<Result> = (
  send: Send,
  source: Source,
  destination: Destination,
  options: ResumableOptions,
  limit: Limit,
) => Promise<Result>

/**
 * Chooses the size of each piece. Streamed bytes are one piece, because a proxy refuses a large declared size before
 * most of the bytes are sent. Pieces in memory start small, and grow as long as they are fast and accepted.
 */
const createPieces = (limit: Limit, isStreamed: boolean) => {
  let size = isStreamed ? largestStreamed : safePiece
  let doubts = 0
  const largest = () => Math.min(limit.piece, isStreamed ? largestStreamed : largestHeld)
  return {
    size: () => Math.min(size, largest()),
    measure(bytes: number, milliseconds: number) {
      const rate = bytes / Math.max(1, milliseconds)
      const quick = Math.min(size * 2, Math.round(rate * pieceTime))
      size = isStreamed && bytes >= 2 * safePiece ? largestStreamed : Math.max(safePiece, quick)
    },
    /**
     * Continues with smaller pieces. If the size was the certain or probable reason of a failure, all later pieces stay
     * small. Returns false if the pieces are already small.
     */
    shrink(bytes: number, isCertain: boolean): boolean {
      if (bytes <= safePiece) return false
      size = safePiece
      doubts++
      if (isCertain || doubts > 1) limit.piece = safePiece
      return true
    },
  }
}

// A proxy refuses a large piece, or closes the connection. The service has then stored nothing of this piece.
const isTooLarge = (error: ServiceError): boolean => error.status === 413 || error.code === 104005
const mayBeTooLarge = (error: ServiceError, before: State, now: State): boolean =>
  error.status === 0 && now.offset === before.offset

const isTransient = ({ status }: ServiceError): boolean => status === 0 || status >= 500 || [409, 423].includes(status)

/** Throws a failure that is not one of the service or the network. */
const serviceErrorIn = (failure: unknown): ServiceError => {
  if (failure instanceof ServiceError) return failure
  throw failure instanceof Unreadable ? failure.cause : failure
}

export const isUploadIn = (uploads: string, address: string): boolean =>
  address.startsWith(uploads) && /^[\w-]+$/.test(address.slice(uploads.length))

export const addressIn = (response: Response, { folder, uploads }: Destination): string => {
  const location = response.headers.get('Location') ?? ''
  const address = URL.canParse(location, folder) ? new URL(location, folder).href : ''
  if (address !== '') refuseDowngrade(folder, address)
  if (!isUploadIn(uploads, address)) throw unexpectedAnswer(response, new URL(folder).host)
  return address
}

const createRequests = (send: Send, source: Source, signal: AbortSignal | undefined) => {
  const total = source.size
  return {
    async begin(destination: Destination): Promise<State> {
      const { folder, name, contentType, condition } = destination
      const metadata = [`filename ${base64(name)}`, ...(contentType ? [`filetype ${base64(contentType)}`] : [])]
      const response = await send({
        method: 'POST',
        url: folder,
        headers: { ...tus, ...condition, 'Upload-Length': String(total), 'Upload-Metadata': metadata.join(',') },
        signal,
        // A lost answer leaves an upload without bytes, which expires.
        repeatable: true,
        lingers: true,
      })
      return { address: addressIn(response, destination), offset: 0 }
    },

    async find(address: string): Promise<State | undefined> {
      try {
        const { headers } = await send({ method: 'HEAD', url: address, headers: tus, signal, repeatable: true })
        const offset = Number(headers.get('Upload-Offset') ?? Number.NaN)
        const isSame = Number(headers.get('Upload-Length')) === total && offset >= 0 && offset <= total
        return isSame ? { address, offset } : undefined
      } catch (error) {
        if (isGone(error)) return undefined
        throw error
      }
    },

    async append({ address, offset }: State, size: number, onSent: (sent: number) => void): Promise<State> {
      const read = source.streamed?.(offset, offset + size)
      const body = read && {
        size: read.size,
        stream(watch: Watch) {
          let sent = offset
          const onRead = (bytes: number) => {
            sent += bytes
            onSent(sent)
            watch.onRead(bytes)
          }
          return read.stream({ ...watch, onRead })
        },
      }
      const response = await send({
        method: 'PATCH',
        url: address,
        headers: { ...tus, 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' },
        body: body ?? (await source.slice(offset, offset + size)),
        signal,
        repeatable: false,
      })
      const next = Number(response.headers.get('Upload-Offset'))
      if (!(next > offset && next <= total)) throw unexpectedAnswer(response, new URL(address).host)
      return { address, offset: next }
    },
  }
}

/**
 * Uploads a source in pieces (tus 1.0.0), and continues after a broken connection. Resolves when the file is in place.
 */
export const uploadResumably: SendFile<void> = async (
  send,
  source,
  destination,
  { onProgress, signal, resume, onBegun },
  limit,
) => {
  const total = source.size
  const { begin, find, append } = createRequests(send, source, signal)

  const start = async (): Promise<State> => {
    const earlier = resume && isUploadIn(destination.uploads, resume) ? await find(resume) : undefined
    if (earlier) return earlier
    const begun = await begin(destination)
    await onBegun?.(begun.address)
    return begun
  }

  const findAgain = async (known: State): Promise<State | undefined> => {
    try {
      return await find(known.address)
    } catch (error) {
      if (error instanceof ServiceError && isTransient(error)) return known
      throw error
    }
  }

  const pieces = createPieces(limit, source.streamed !== undefined)
  const recover = async (failure: unknown, before: State, size: number): Promise<State> => {
    const error = serviceErrorIn(failure)
    if (isTooLarge(error) && pieces.shrink(size, true)) return before
    const requested = (error.retryAfter ?? 0) * 1000
    if (!isTransient(error) || requested > longestRetryAfter) throw error
    if (requested > 0) await pause(requested, signal)
    const now = await findAgain(before)
    if (!now) throw error
    if (now !== before && mayBeTooLarge(error, before, now)) pieces.shrink(size, false)
    return now
  }

  let failures = 0
  let state = await start()
  onProgress?.({ sent: state.offset, total })
  while (state.offset < total) {
    const before = state
    const size = Math.min(pieces.size(), total - before.offset)
    const started = performance.now()
    try {
      state = await append(before, size, (sent) => onProgress?.({ sent, total }))
      pieces.measure(size, performance.now() - started)
      failures = 0
    } catch (error) {
      state = await recover(error, before, size)
      failures = state.offset > before.offset ? 0 : failures + 1
      if (failures === mostFruitlessAppends) throw error
      await pause(Math.random() * 125 * 2 ** failures, signal)
    }
    onProgress?.({ sent: state.offset, total })
  }
}

export const cancelUpload = async (
  send: Send,
  uploads: string,
  address: string,
  ending: Partial<Call> = {},
): Promise<void> => {
  if (!isUploadIn(uploads, address))
    throw refusal(0, 0, `"${address}" is not an upload of this site. Use the address that "onBegun" received.`)
  try {
    await send({ method: 'DELETE', url: address, headers: tus, repeatable: true, ...ending })
  } catch (error) {
    if (!isGone(error)) throw error
  }
}
