import { Readable } from 'node:stream'
import { ServiceError } from '../../../lib/core/errors.ts'
import type { Claim, UploadRecords } from '../../../lib/storage/uploads/upload.ts'
import type { Answer } from '../../support/answer.ts'
import type { Call } from '../storage/service.ts'

interface Request {
  /** `null` leaves out a default header. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: string | Buffer | Readable
  readonly query?: Readonly<Record<string, string>>
}

/** The next requests place their uploads, but cannot record this. */
export const failCompletions = (records: UploadRecords, times: number): void => {
  let left = times
  const { claim } = records
  Object.assign(records, {
    claim: (...given: Parameters<typeof claim>) => {
      const claimed = claim(...given)
      const complete: Claim['complete'] = async (...entry) => {
        if (left-- > 0) throw new ServiceError('unavailable')
        await claimed?.complete(...entry)
      }
      return claimed && { ...claimed, complete }
    },
  })
}

/** The path of a new upload after the address of its site. */
export const uploadIn = ({ headers, status, text }: Answer): string => {
  const location = headers['location']
  if (!location) throw new Error(`No upload was created: ${status} ${text}`)
  return location.slice(location.indexOf('/uploads/'))
}

/** The requests of resumable uploads to a site. */
export const tusOver = (callSite: Call) => {
  /** Sends a request to a path after the address of the site. It is a tus request unless the headers say otherwise. */
  const tus = (method: string, path: string, { headers = {}, body, ...more }: Request = {}): Promise<Answer> => {
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
    tus,
    create: (
      name: string,
      length: number | undefined,
      { folder = '', headers, ...more }: Request & { readonly folder?: string } = {},
    ) =>
      tus('POST', `/storage${folder}`, {
        ...more,
        headers: {
          'Upload-Metadata': `filename ${Buffer.from(name).toString('base64')}`,
          ...(length === undefined ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(length) }),
          ...headers,
        },
      }),
    patch: (upload: string, offset: number, body: string | Buffer | Readable, { headers, ...more }: Request = {}) =>
      tus('PATCH', upload, {
        body,
        ...more,
        headers: { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset), ...headers },
      }),
    head: (upload: string, more?: Request) => tus('HEAD', upload, more),
  }
}
