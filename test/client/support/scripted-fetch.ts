import { connect, type Source } from '../../../client/src/index.ts'

export interface Asked {
  readonly method: string
  readonly url: string
  readonly token: string | null
  readonly accept: string | null
}

type Answer = (asked: Asked) => Response | undefined

/** The address of a service that does not exist. */
export const address = 'https://us.test'

export const json = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'Content-Type': 'application/json', ...headers } })

export const sites = (...urls: readonly string[]) =>
  json({ items: urls.map((url, index) => ({ id: index + 1, name: `Site ${index + 1}`, url, permissions: ['files'] })) })

/** A `fetch` with scripted answers. If no answer is left, the connection breaks. */
export const scriptedFetch = (answer: Answer) => {
  const asked: Asked[] = []
  const send: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const { method, url, headers } = request
    const each = { method, url, token: headers.get('Authorization'), accept: headers.get('Accept') }
    asked.push(each)
    const response = answer(each)
    if (!response) throw new TypeError('fetch failed')
    return response
  }
  return { asked, fetch: send }
}

/** Shortens the waits before repetitions to some milliseconds. */
export const patience = { delay: 1 }

export const isSites = ({ url }: Asked) => url.endsWith('/api/v1/admin/sites')

/** A client of one site, with the given list of sites, and scripted answers to all other requests. */
export const scripted = async (answers: readonly (() => Response | undefined)[], urls = [address]) => {
  const waiting = [...answers]
  const { asked, fetch } = scriptedFetch((each) => (isSites(each) ? sites(...urls) : waiting.shift()?.()))
  const client = await connect({ url: address, token: 'secret', site: 1, patience, fetch })
  asked.length = 0
  return { client, asked }
}

/** A client of one site. Answers all its requests except the request for the list of sites. */
export const clientOver = (answer: (request: Request) => Response | Promise<Response>, signal?: AbortSignal) => {
  const send: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    return request.url.endsWith('/sites') ? sites(address) : answer(request)
  }
  return connect({ url: address, token: 'secret', patience, fetch: send, ...(signal && { signal }) })
}

export const silence = ({ signal }: Request): Promise<Response> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

/** A file of zeros that the client reads while it sends the file. Calls `onCancel` if the reader stops early. */
export const zeros = (size: number, onCancel = () => {}): Source => ({
  size,
  slice: (start, end) => new Uint8Array(end - start),
  streamed: (start, end) => ({
    size: end - start,
    stream({ onRead }) {
      let position = start
      return new ReadableStream({
        type: 'bytes',
        autoAllocateChunkSize: 65_536,
        pull(controller) {
          const { byobRequest } = controller
          const count = Math.min(byobRequest?.view?.byteLength ?? 0, end - position)
          position += count
          onRead(count)
          byobRequest?.respond(count)
          if (position === end) controller.close()
        },
        cancel: onCancel,
      })
    },
  }),
})
