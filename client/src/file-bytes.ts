import type { Files } from './files.ts'
import { hasStatus, ServiceError } from './service-error.ts'
import { pause } from './transport.ts'

const mostFruitlessReads = 6

export interface FileVersion {
  readonly path: string
  readonly etag: string
  readonly size: number
}

const changed = (path: string) =>
  new ServiceError({
    status: 412,
    code: 100412,
    message: `"${path}" changed on the site in the meantime. Repeat the command.`,
    path,
  })

/** In milliseconds: after this time without a byte, the connection counts as broken. */
const longestSilence = 60_000

/** Yields the bytes of an answer. Ends early if the connection breaks. */
const chunksOf = async function* ({ body }: Response, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  const next = async () => {
    const timer = setTimeout(() => void reader?.cancel().catch(() => {}), longestSilence)
    try {
      return await reader?.read()
    } catch {
      signal?.throwIfAborted()
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }
  try {
    for (let read = await next(); read && !read.done; read = await next()) yield read.value
  } finally {
    reader?.cancel().catch(() => {})
  }
}

/**
 * Reads one version of a file, and continues after a broken connection. Errors: `ServiceError`, with 412 if the file
 * has changed.
 */
export const readBytes = async function* (
  files: Pick<Files, 'read' | 'stat'>,
  { path, etag, size }: FileVersion,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let received = 0
  let failures = 0
  let isFromBucket = false
  const readOn = async function* () {
    const response = await files.read(path, { ...(received > 0 && { range: { first: received } }), etag, signal })
    if (received > 0 && response.status !== 206) throw changed(path)
    isFromBucket ||= response.redirected
    for await (const bytes of chunksOf(response, signal)) {
      received += bytes.length
      if (received > size) throw changed(path)
      yield bytes
    }
  }
  do {
    const before = received
    try {
      yield* readOn()
    } catch (error) {
      // The service may be restarting, but it has answered before.
      if (received === 0 || !hasStatus(error, 0)) throw error
      await pause(Math.random() * 125 * 2 ** failures, signal)
    }
    failures = received > before ? 0 : failures + 1
  } while (received < size && failures < mostFruitlessReads)
  // The bucket does not know the tags of the service, so this asks the service for the tag at the end.
  if (isFromBucket && (await files.stat(path)).etag !== etag) throw changed(path)
  if (received < size) {
    throw new ServiceError({
      status: 0,
      code: 0,
      message: `The download of ${path} was interrupted several times. Check the network, then repeat the command.`,
    })
  }
}
