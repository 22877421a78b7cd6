import { Readable } from 'node:stream'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import type { Answer } from '../../support/answer.ts'
import { storageHands } from '../storage/hands.ts'
import { openStorage, type StorageOptions, type StorageUnderTest } from '../storage/service.ts'

interface Call {
  /** `null` leaves out a default header. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: string | Buffer | Readable
  readonly query?: Readonly<Record<string, string>>
  readonly token?: string
}

/** A site, and tus requests to it. */
export interface UploadsUnderTest extends Pick<StorageUnderTest, 'site' | 'stores' | 'deps' | 'leftovers' | 'close'> {
  issueToken(user: string): Promise<string>
  /** Sends a request to a path after the address of the site. It is a tus request unless the headers say otherwise. */
  call(method: string, path: string, call?: Call): Promise<Answer>
  create(name: string, length: number | undefined, more?: Call & { readonly folder?: string }): Promise<Answer>
  patch(upload: string, offset: number, body: string | Buffer | Readable, more?: Call): Promise<Answer>
  head(upload: string, more?: Call): Promise<Answer>
  /** The content of a file. Undefined if the file does not exist. */
  content(path: string): Promise<string | undefined>
}

/** The path of a new upload after the address of its site. */
export const uploadIn = ({ headers, status, text }: Answer): string => {
  const location = headers['location']
  if (!location) throw new Error(`No upload was created: ${status} ${text}`)
  return location.slice(location.indexOf('/uploads/'))
}

export const openUploads = async (options: StorageOptions = {}, open = openStorage): Promise<UploadsUnderTest> => {
  const storage = await open(options)
  const { site, callSite, stores } = storage

  const call: UploadsUnderTest['call'] = (method, path, { headers = {}, body, token, ...more } = {}) => {
    const sent = {
      'Tus-Resumable': '1.0.0',
      'Content-Length': body === undefined || body instanceof Readable ? null : String(Buffer.byteLength(body)),
      Authorization: token ?? null,
      ...headers,
    }
    const present = Object.entries(sent).filter((header): header is [string, string] => header[1] !== null)
    return callSite(method, path, {
      ...more,
      ...(body !== undefined && { body }),
      headers: Object.fromEntries(present),
    })
  }

  return {
    ...storage,
    async issueToken(user) {
      const token = newToken()
      const grant = {
        hash: hashToken(token),
        user,
        sites: [site],
        permissions: ['files' as const],
        expires: Date.now(),
      }
      await stores.grants.put(grant, [])
      return token
    },
    call,
    create: (name, length, { folder = '', headers, ...more } = {}) =>
      call('POST', `/storage${folder}`, {
        ...more,
        headers: {
          'Upload-Metadata': `filename ${Buffer.from(name).toString('base64')}`,
          ...(length === undefined ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(length) }),
          ...headers,
        },
      }),
    patch: (upload, offset, body, { headers, ...more } = {}) =>
      call('PATCH', upload, {
        body,
        ...more,
        headers: { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset), ...headers },
      }),
    head: (upload, more) => call('HEAD', upload, more),
    content: (path) => storage.textOf(`/${path}`),
  }
}

/** The two kinds of stores. Each call opens empty stores. */
export const uploadsHands = storageHands.map(({ name, open }) => ({
  name,
  open: (options?: StorageOptions) => openUploads(options, open),
}))
