import type { Answer } from '../../support/answer.ts'
import { type Call, call } from './http.ts'
import { at } from './storage.ts'

type Headers = NonNullable<Call['headers']>

export const inTus = { 'Tus-Resumable': '1.0.0' }
export const asBytes = { ...inTus, 'Content-Type': 'application/offset+octet-stream' }

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** The value of `Upload-Metadata` for these values. */
export const metadata = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key} ${base64(value)}`)
    .join(',')

/** The path in the `Location` of a new upload, without the base URL. */
export const pathOf = ({ headers }: Answer): string => {
  const { pathname } = new URL(headers['location'] ?? '')
  return pathname.slice(pathname.indexOf('/api/v2/'))
}

/** Requests that create uploads in a folder. */
export const createUploader = (folder: string) => {
  const create = (name: string, length: number | undefined, headers: Headers = {}, more: Call = {}) =>
    call(at(folder), {
      method: 'POST',
      ...more,
      headers: {
        ...inTus,
        ...(length === undefined ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(length) }),
        'Upload-Metadata': metadata({ filename: name }),
        ...headers,
      },
    })
  return {
    create,
    begin: async (name: string, length: number | undefined, headers?: Headers) =>
      pathOf(await create(name, length, headers)),
  }
}

export const head = (upload: string, more: Call = {}): Promise<Answer> =>
  call(upload, { method: 'HEAD', headers: inTus, ...more })

export const append = (
  upload: string,
  offset: number | string,
  body: string | Buffer,
  headers: Headers = {},
  more: Call = {},
): Promise<Answer> =>
  call(upload, { method: 'PATCH', body, ...more, headers: { ...asBytes, 'Upload-Offset': String(offset), ...headers } })

export const cancel = (upload: string, more: Call = {}): Promise<Answer> =>
  call(upload, { method: 'DELETE', headers: inTus, ...more })
