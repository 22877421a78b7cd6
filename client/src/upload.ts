import { ServiceError } from './service-error.ts'
import type { Source } from './source.ts'
import { pause, type Send } from './transport.ts'

export interface UploadProgress {
  /** Bytes that the service has, and all of them. */
  readonly sent: number
  readonly total: number
}

/** How a resumable upload is made. */
export interface ResumableOptions {
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined
  readonly signal?: AbortSignal | undefined
  /** The address of an upload of the same bytes that was begun before, to go on with. One that is gone, or of another size, is begun anew. */
  readonly resume?: string | undefined
  /** Told the address of the upload once it is begun: who keeps it can go on after a crash, for a day. */
  readonly onBegun?: ((address: string) => void | Promise<void>) | undefined
}

/** Where to, and under which condition. */
export interface Destination {
  /** The URL of the folder. */
  readonly folder: string
  readonly name: string
  readonly contentType?: string | undefined
  readonly condition: Readonly<Record<string, string>>
  /** What the address of an upload begins with. */
  readonly uploads: string
}

/** What any installation takes in one request, in bytes: behind API Gateway it is 4.5 MB. */
export const largestRequest = 4_500_000
/** The first piece, and one that any installation takes; and the largest that is held in memory, in bytes. */
const safePiece = 4_000_000
const largestPiece = 32 * 1024 ** 2
/** How long a piece should take, in milliseconds: so often is progress told, and so much is sent again when a connection breaks. */
const pieceTime = 1000
/** So often in a row may an append fail without the upload having come further. */
const mostFailures = 8

const tus = { 'Tus-Resumable': '1.0.0' }

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)))

interface State {
  readonly address: string
  readonly offset: number
}

const isGone = (error: unknown): boolean =>
  error instanceof ServiceError && (error.status === 404 || error.status === 410)

/** The pieces of an upload: they grow as far as they are quick, until one is too large for what stands in front of the service. */
const createPieces = () => {
  let size = safePiece
  let limit = largestPiece
  return {
    size: () => size,
    took(bytes: number, milliseconds: number) {
      const rate = bytes / Math.max(1, milliseconds)
      size = Math.min(limit, Math.max(safePiece, Math.min(size * 2, Math.round(rate * pieceTime))))
    },
    /** Whether a smaller piece may get through. */
    refused(bytes: number): boolean {
      if (bytes <= safePiece) return false
      limit = safePiece
      size = safePiece
      return true
    },
  }
}

/** Of a large piece it is not known why it failed: what stands in front of the service may have cut it. */
const mayBeTooLarge = (error: ServiceError): boolean =>
  error.status === 413 || error.status === 0 || error.code === 104005

const misunderstood = (what: string): ServiceError =>
  new ServiceError({
    status: 0,
    code: 0,
    message: `The service has not said ${what}. Check the address, and what stands between.`,
  })

/** A failure that may pass, after which the upload goes on where it stands. */
const isPassing = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && (error.status === 0 || error.status >= 500 || [409, 423].includes(error.status))

/** The requests of an upload. */
const createRequests = (send: Send, source: Source, signal: AbortSignal | undefined) => {
  const total = source.size
  return {
    async begin({ folder, name, contentType, condition, uploads }: Destination): Promise<State> {
      const metadata = [`filename ${base64(name)}`, ...(contentType ? [`filetype ${base64(contentType)}`] : [])]
      const response = await send({
        method: 'POST',
        url: folder,
        headers: { ...tus, ...condition, 'Upload-Length': String(total), 'Upload-Metadata': metadata.join(',') },
        signal,
        // One that was begun and is not known of holds no bytes, and expires.
        repeatable: true,
      })
      const address = new URL(response.headers.get('Location') ?? '', folder).href
      if (!address.startsWith(uploads)) throw misunderstood('where the upload goes on')
      return { address, offset: 0 }
    },

    /** How far an upload is; undefined when it is gone, or not of these bytes. */
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

    async append({ address, offset }: State, size: number): Promise<State> {
      const { headers } = await send({
        method: 'PATCH',
        url: address,
        headers: { ...tus, 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' },
        body: await source.slice(offset, offset + size),
        signal,
        repeatable: false,
      })
      const next = Number(headers.get('Upload-Offset'))
      if (!(next > offset && next <= total)) throw misunderstood('how far the upload is')
      return { address, offset: next }
    },
  }
}

/** Uploads a source piece by piece (tus 1.0.0), and goes on by itself where a connection breaks. Resolves when the file is in place. */
export const uploadResumably = async (
  send: Send,
  source: Source,
  destination: Destination,
  { onProgress, signal, resume, onBegun }: ResumableOptions,
): Promise<void> => {
  const total = source.size
  const { begin, find, append } = createRequests(send, source, signal)

  const start = async (): Promise<State> => {
    const earlier = resume?.startsWith(destination.uploads) ? await find(resume) : undefined
    if (earlier) return earlier
    const begun = await begin(destination)
    await onBegun?.(begun.address)
    return begun
  }

  const pieces = createPieces()
  /** The state after a failed append of so many bytes. What fails for good is thrown. */
  const recover = async (error: unknown, before: State, size: number): Promise<State> => {
    const shrinks = error instanceof ServiceError && mayBeTooLarge(error) && pieces.refused(size)
    if (shrinks && error.status !== 0) return before
    const now = isPassing(error) ? await find(before.address) : undefined
    if (!now) throw error
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
      state = await append(before, size)
      pieces.took(size, performance.now() - started)
      failures = 0
    } catch (error) {
      state = await recover(error, before, size)
      failures = state.offset > before.offset ? 0 : failures + 1
      if (failures === mostFailures) throw error
      await pause(Math.random() * 125 * 2 ** failures, signal)
    }
    onProgress?.({ sent: state.offset, total })
  }
}

/** Ends an upload that was begun and shall not go on. One that is gone already is no error. */
export const cancelUpload = async (send: Send, address: string): Promise<void> => {
  try {
    await send({ method: 'DELETE', url: address, headers: tus, repeatable: true })
  } catch (error) {
    if (!isGone(error)) throw error
  }
}
