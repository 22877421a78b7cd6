import type { UploadState } from './generated/types.gen.ts'
import { answerOf, hasStatus, isList, ServiceError } from './service-error.ts'
import { partLength, type Source } from './source.ts'
import type { Send } from './transport.ts'
import { addressIn, type Destination, type Limit, type SendFile } from './upload.ts'

/** Requests the addresses of this many parts together, and sends these parts side by side. */
const partsAtOnce = 8
const mostAttempts = 3

interface Part {
  readonly number: number
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly digest: string
}

const hex = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')

const isState = ({ size, complete, inParts, stored, addresses }: Partial<UploadState>): boolean =>
  typeof complete === 'boolean' &&
  typeof inParts === 'boolean' &&
  (size === null || typeof size === 'number') &&
  isList(stored) &&
  isList(addresses, ({ url, headers }) => URL.canParse(url) && headers)

const read = async (source: Source, start: number, end: number) =>
  new Uint8Array(await new Blob([await source.slice(start, end)]).arrayBuffer())

const readPart = async (source: Source, number: number): Promise<Part> => {
  const start = (number - 1) * partLength
  const bytes = await read(source, start, Math.min(start + partLength, source.size))
  return { number, bytes, digest: hex(await crypto.subtle.digest('SHA-256', bytes)) }
}

const createRequests = (send: Send, source: Source, signal: AbortSignal | undefined) => {
  const stateOf = async (address: string, query = ''): Promise<UploadState> => {
    const response = await send({ method: 'GET', url: `${address}${query}`, signal, repeatable: true })
    return answerOf<UploadState>(isState, response, new URL(address).host)
  }
  return {
    async begin(destination: Destination): Promise<string> {
      const { folder, name, contentType, condition } = destination
      const response = await send({
        method: 'POST',
        url: `${folder}?parts`,
        headers: { ...condition, 'Content-Type': 'application/json' },
        body: JSON.stringify({ name, size: source.size, ...(contentType && { type: contentType }) }),
        signal,
        repeatable: true,
      })
      return addressIn(response, destination)
    },

    /** Undefined if the upload no longer exists or has another size. */
    async find(address: string): Promise<UploadState | undefined> {
      try {
        const state = await stateOf(address)
        return state.size === source.size ? state : undefined
      } catch (error) {
        if (hasStatus(error, 404, 405, 410)) return undefined
        throw error
      }
    },

    async sendParts(address: string, parts: readonly Part[]): Promise<void> {
      const digests = parts.map(({ digest }) => digest).join(',')
      const { addresses } = await stateOf(address, `?first=${parts[0]?.number}&digests=${digests}`)
      const sending = parts.map(async ({ number, bytes }) => {
        const place = addresses.find((one) => one.number === number)
        if (!place) throw new Error(`The service gave no address for part ${number}. Repeat the upload.`)
        const { url, headers } = place
        await send({ method: 'PUT', url, headers, body: bytes, signal, repeatable: true, isSigned: true })
      })
      const failed = (await Promise.allSettled(sending)).find((one) => one.status === 'rejected')
      if (failed) throw failed.reason
    },

    complete: (address: string) => send({ method: 'PATCH', url: address, signal, repeatable: true }),
    cancel: (address: string) => send({ method: 'DELETE', url: address, signal, repeatable: true }),
  }
}

const groupsOf = (count: number, stored: ReadonlySet<number>): readonly (readonly number[])[] => {
  const groups: number[][] = []
  for (let number = 1; number <= count; number++) {
    if (stored.has(number)) continue
    const last = groups.at(-1)
    if (last && last.length < partsAtOnce && last.at(-1) === number - 1) last.push(number)
    else groups.push([number])
  }
  return groups
}

type Requests = ReturnType<typeof createRequests>

const beginIfOffered = async ({ begin }: Requests, destination: Destination): Promise<string | undefined> => {
  try {
    return await begin(destination)
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 104000 || error.status === 404)) return undefined
    throw error
  }
}

/** Sends the parts again, to new addresses, when an address has expired or when bytes were damaged on their way. */
const sendGroup = async ({ sendParts }: Requests, address: string, parts: readonly Part[]): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendParts(address, parts)
    } catch (error) {
      if (attempt === mostAttempts || !hasStatus(error, 400, 403)) throw error
    }
  }
}

const afterLastGroup = (limit: Limit, work: () => Promise<void>): Promise<void> => {
  const { lastGroup = Promise.resolve() } = limit
  const group = lastGroup.catch(() => {}).then(work)
  limit.lastGroup = group
  return group
}

const sendMissing = async (
  requests: Requests,
  source: Source,
  address: string,
  { stored, limit, report }: { readonly stored: Set<number>; readonly limit: Limit; readonly report: () => void },
): Promise<void> => {
  report()
  for (const group of groupsOf(Math.ceil(source.size / partLength), stored)) {
    await afterLastGroup(limit, async () => {
      const parts = await Promise.all(group.map((number) => readPart(source, number)))
      await sendGroup(requests, address, parts)
    })
    for (const number of group) stored.add(number)
    report()
  }
  // A changed file refuses to give its last bytes. After a crash, these bytes may be stored already.
  await read(source, source.size - 1, source.size)
  await requests.complete(address)
}

/**
 * Sends the parts of a large file to the bucket of the service, side by side. Returns false, and leaves no upload
 * behind, if the service offers no parts or the bucket does not answer. Rules for the browser may forbid calls to the
 * bucket.
 */
export const uploadInParts: SendFile<boolean> = async (
  send,
  source,
  destination,
  { onProgress, signal, resume, onBegun },
  limit,
) => {
  const total = source.size
  const requests = createRequests(send, source, signal)
  const earlier = resume?.startsWith(destination.uploads) ? await requests.find(resume) : undefined
  if (earlier?.inParts === false) return false
  const address = earlier ? resume : await beginIfOffered(requests, destination)
  limit.hasNoParts = address === undefined
  if (address === undefined) return false
  if (!earlier) await onBegun?.(address)
  const stored = new Set(earlier?.stored)
  const report = () => onProgress?.({ sent: Math.min(stored.size * partLength, total), total })
  try {
    if (!earlier?.complete) await sendMissing(requests, source, address, { stored, limit, report })
  } catch (error) {
    if (stored.size > 0 || !hasStatus(error, 0)) throw error
    limit.hasNoParts = true
    await requests.cancel(address)
    return false
  }
  onProgress?.({ sent: total, total })
  return true
}
