import type { UploadState } from './generated/types.gen.ts'
import { inParallel } from './in-parallel.ts'
import { answerOf, hasStatus, isList, refusal, ServiceError } from './service-error.ts'
import { partLength, type Source } from './source.ts'
import type { Send } from './transport.ts'
import { addressIn, type Destination, isUploadIn, type Limit, type ResumableOptions, type SendFile } from './upload.ts'

/**
 * Each request of addresses has a cost, so one request gets many. The first group is smaller, because all of its bytes
 * are read before the service can refuse the upload. Only the parts that are being sent are in memory.
 */
const partsInGroup = 64
const partsAtBegin = 16
const partsInFlight = 7
const mostAttempts = 3

interface Part {
  readonly number: number
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

const read = async (source: Source, start: number, end: number): Promise<Uint8Array<ArrayBuffer>> => {
  const bytes = await source.slice(start, end)
  return bytes instanceof Uint8Array ? bytes : new Uint8Array(await new Blob([bytes]).arrayBuffer())
}

const readPart = (source: Source, number: number): Promise<Uint8Array<ArrayBuffer>> => {
  const start = (number - 1) * partLength
  return read(source, start, Math.min(start + partLength, source.size))
}

const digestOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  hex(await crypto.subtle.digest('SHA-256', bytes))

/** Reads one part after the other, so that only one is in memory. */
const describeParts = async (
  source: Source,
  numbers: readonly number[],
  signal: AbortSignal | undefined,
): Promise<readonly Part[]> => {
  const parts: Part[] = []
  for (const number of numbers) {
    signal?.throwIfAborted()
    parts.push({ number, digest: await digestOf(await readPart(source, number)) })
  }
  return parts
}

// The bucket refuses bytes that do not match their digest. They may also be damaged on their way.
const requireUnchanged = async (source: Source, { number, digest }: Part): Promise<void> => {
  if ((await digestOf(await readPart(source, number))) === digest) return
  // The source of a file explains the change.
  await read(source, source.size - 1, source.size)
  throw refusal(0, 0, 'The file changed during the upload. Repeat when nobody writes to it.')
}

interface Begun {
  readonly address: string
  readonly first?: { readonly parts: readonly Part[]; readonly addresses: UploadState['addresses'] }
}

const createRequests = (send: Send, source: Source, signal: AbortSignal | undefined) => {
  const stateOf = async (address: string, query = ''): Promise<UploadState> => {
    const response = await send({ method: 'GET', url: `${address}${query}`, signal, repeatable: true })
    return answerOf<UploadState>(isState, response, new URL(address).host)
  }
  return {
    async begin(destination: Destination, parts: readonly Part[]): Promise<Begun> {
      const { folder, name, contentType, condition } = destination
      const digests = parts.map(({ digest }) => digest)
      const response = await send({
        method: 'POST',
        url: `${folder}?parts`,
        headers: { ...condition, 'Content-Type': 'application/json' },
        body: JSON.stringify({ name, size: source.size, ...(contentType && { type: contentType }), digests }),
        signal,
        repeatable: true,
        lingers: true,
      })
      const address = addressIn(response, destination)
      const { addresses } = await answerOf<UploadState>(isState, response, new URL(address).host)
      return { address, first: { parts, addresses } }
    },

    async find(address: string): Promise<UploadState | undefined> {
      try {
        const state = await stateOf(address)
        return state.size === source.size ? state : undefined
      } catch (error) {
        if (hasStatus(error, 404, 405, 410)) return undefined
        throw error
      }
    },

    async addressesOf(address: string, parts: readonly Part[]): Promise<UploadState['addresses']> {
      const digests = parts.map(({ digest }) => digest).join(',')
      return (await stateOf(address, `?first=${parts[0]?.number}&digests=${digests}`)).addresses
    },

    async sendPart(addresses: UploadState['addresses'], part: Part): Promise<void> {
      const place = addresses.find(({ number }) => number === part.number)
      if (!place) throw new Error(`The service gave no address for part ${part.number}. Repeat the upload.`)
      const { url, headers } = place
      const body = await readPart(source, part.number)
      await send({ method: 'PUT', url, headers, body, signal, repeatable: true, isSigned: true })
    },

    complete: (address: string) => send({ method: 'PATCH', url: address, signal, repeatable: true }),
    cancel: (address: string) => send({ method: 'DELETE', url: address, signal, repeatable: true }),
  }
}

const countOf = ({ size }: Source): number => Math.ceil(size / partLength)

const groupsOf = (source: Source, stored: ReadonlySet<number>): readonly (readonly number[])[] => {
  const groups: number[][] = []
  for (let number = 1; number <= countOf(source); number++) {
    if (stored.has(number)) continue
    const last = groups.at(-1)
    if (last && last.length < partsInGroup && last.at(-1) === number - 1) last.push(number)
    else groups.push([number])
  }
  return groups
}

type Requests = ReturnType<typeof createRequests>

/** Sends a part again, to a new address, when its address has expired or when its bytes were damaged on their way. */
const sendRepeatedly = async (
  { addressesOf, sendPart }: Requests,
  source: Source,
  address: string,
  given: UploadState['addresses'],
  part: Part,
): Promise<void> => {
  let addresses = given
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendPart(addresses, part)
    } catch (error) {
      if (!hasStatus(error, 400, 403)) throw error
      if (hasStatus(error, 400)) await requireUnchanged(source, part)
      if (attempt === mostAttempts) throw error
      addresses = await addressesOf(address, [part])
    }
  }
}

const afterLastGroup = <Result>(limit: Limit, work: () => Promise<Result>): Promise<Result> => {
  const { lastGroup = Promise.resolve() } = limit
  const group = lastGroup.catch(() => {}).then(work)
  limit.lastGroup = group
  return group
}

const beginIfOffered = (
  { begin }: Requests,
  source: Source,
  destination: Destination,
  { limit, signal }: Pick<Sending, 'limit' | 'signal'>,
): Promise<Begun | undefined> =>
  afterLastGroup(limit, async () => {
    if (limit.hasNoParts) return undefined
    const numbers = Array.from({ length: Math.min(countOf(source), partsAtBegin) }, (_, index) => index + 1)
    const parts = await describeParts(source, numbers, signal)
    try {
      return await begin(destination, parts)
    } catch (error) {
      if (!(error instanceof ServiceError && (error.code === 104000 || error.status === 404))) throw error
      limit.hasNoParts = true
      return undefined
    }
  })

interface Sending extends Pick<ResumableOptions, 'signal'> {
  readonly stored: Set<number>
  readonly limit: Limit
  readonly report: () => void
}

const sendMissing = async (
  requests: Requests,
  source: Source,
  { address, first }: Begun,
  { stored, limit, report, signal }: Sending,
): Promise<void> => {
  const sendGroup = (parts: readonly Part[], addresses: UploadState['addresses']) =>
    inParallel(parts, partsInFlight, async (part) => {
      await sendRepeatedly(requests, source, address, addresses, part)
      stored.add(part.number)
      report()
    })
  report()
  if (first) await afterLastGroup(limit, () => sendGroup(first.parts, first.addresses))
  for (const group of groupsOf(source, stored)) {
    await afterLastGroup(limit, async () => {
      const parts = await describeParts(source, group, signal)
      await sendGroup(parts, await requests.addressesOf(address, parts))
    })
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
  const earlier = resume && isUploadIn(destination.uploads, resume) ? await requests.find(resume) : undefined
  if (earlier?.inParts === false) return false
  const begun: Begun | undefined =
    earlier && resume ? { address: resume } : await beginIfOffered(requests, source, destination, { limit, signal })
  if (!begun) return false
  if (!earlier) await onBegun?.(begun.address)
  const stored = new Set(earlier?.stored)
  const report = () => onProgress?.({ sent: Math.min(stored.size * partLength, total), total })
  try {
    if (!earlier?.complete) await sendMissing(requests, source, begun, { stored, limit, report, signal })
  } catch (error) {
    // Unlike a fault of the file, a connection that breaks has a cause.
    if (stored.size > 0 || !hasStatus(error, 0) || error.cause === undefined) throw error
    await requests.cancel(begun.address)
    limit.hasNoParts = true
    return false
  }
  onProgress?.({ sent: total, total })
  return true
}
