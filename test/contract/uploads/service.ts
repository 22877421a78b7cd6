import { Readable } from 'node:stream'
import type { Answer } from '../../support/answer.ts'
import { openStorage, type StorageOptions, type StorageUnderTest } from '../storage/service.ts'

interface Call {
  /** `null` leaves out a default header. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: string | Buffer | Readable
  readonly query?: Readonly<Record<string, string>>
}

/** The path of a new upload after the address of its site. */
export const uploadIn = ({ headers, status, text }: Answer): string => {
  const location = headers['location']
  if (!location) throw new Error(`No upload was created: ${status} ${text}`)
  return location.slice(location.indexOf('/uploads/'))
}

/** The requests of resumable uploads to a site. */
export const tusOver = ({ callSite }: Pick<StorageUnderTest, 'callSite'>) => {
  /** Sends a request to a path after the address of the site. It is a tus request unless the headers say otherwise. */
  const call = (method: string, path: string, { headers = {}, body, ...more }: Call = {}): Promise<Answer> => {
    const sent = {
      'Tus-Resumable': '1.0.0',
      'Content-Length': body === undefined || body instanceof Readable ? null : String(Buffer.byteLength(body)),
      ...headers,
    }
    const present = Object.entries(sent).filter((header): header is [string, string] => header[1] !== null)
    const given = { ...more, headers: Object.fromEntries(present) }
    return callSite(method, path, body === undefined ? given : { ...given, body })
  }

  return {
    call,
    create: (
      name: string,
      length: number | undefined,
      { folder = '', headers, ...more }: Call & { readonly folder?: string } = {},
    ) =>
      call('POST', `/storage${folder}`, {
        ...more,
        headers: {
          'Upload-Metadata': `filename ${Buffer.from(name).toString('base64')}`,
          ...(length === undefined ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(length) }),
          ...headers,
        },
      }),
    patch: (upload: string, offset: number, body: string | Buffer | Readable, { headers, ...more }: Call = {}) =>
      call('PATCH', upload, {
        body,
        ...more,
        headers: { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset), ...headers },
      }),
    head: (upload: string, more?: Call) => call('HEAD', upload, more),
  }
}

type Open = (options?: StorageOptions) => Promise<StorageUnderTest>

/** A site, and the requests of resumable uploads to it. */
export const openUploads = async (options: StorageOptions = {}, open: Open = openStorage) => {
  const storage = await open(options)
  return {
    ...storage,
    ...tusOver(storage),
    /** The content of a file, or a status other than 200. */
    content: (path: string) => storage.read(`/${path}`),
  }
}

export type UploadsUnderTest = Awaited<ReturnType<typeof openUploads>>
