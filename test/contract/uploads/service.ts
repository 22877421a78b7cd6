import { Readable } from 'node:stream'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Surroundings } from '../../../lib/service/deps.ts'
import type { LeaseTerms } from '../../../lib/storage/uploads/lease.ts'
import type { Answer } from '../../support/answer.ts'
import { type Between, openTestFiles, type TestFiles } from '../../support/files.ts'
import { send } from '../../support/gateway.ts'
import { entry } from '../../support/history.ts'

interface Call {
  /** `null` leaves one out that would be sent otherwise. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: string | Buffer | Readable
  readonly query?: Readonly<Record<string, string>>
  readonly token?: string
}

/** The file storage of one machine with one site, and requests in tus to it. */
export interface UploadsUnderTest extends Pick<TestFiles, 'leftovers' | 'stores' | 'deps'> {
  readonly site: SiteId
  issueToken(grant?: { readonly user?: string }): Promise<string>
  /** `path` comes behind the address of the site. Everything is in tus unless the headers say otherwise. */
  call(method: string, path: string, call?: Call): Promise<Answer>
  /** Begins an upload. */
  create(name: string, length: number | undefined, more?: Call & { readonly folder?: string }): Promise<Answer>
  patch(upload: string, offset: number, body: string | Buffer | Readable, more?: Call): Promise<Answer>
  head(upload: string, more?: Call): Promise<Answer>
  /** The content of a file; undefined when it is not there. */
  content(path: string): Promise<string | undefined>
  close(): Promise<void>
}

export const own = 1001 as SiteId

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** The path of an upload behind the address of its site, from the answer that has created it. */
export const uploadIn = ({ headers, status, text }: Answer): string => {
  const location = headers['location']
  if (!location) throw new Error(`No upload was created: ${status} ${text}`)
  return location.slice(location.indexOf('/uploads/'))
}

export interface UploadsOptions extends Partial<Surroundings> {
  readonly between?: Between
  readonly lease?: LeaseTerms
}

export const openUploads = async (options: UploadsOptions = {}): Promise<UploadsUnderTest> => {
  const files = await openTestFiles(options)
  const { sites, grants } = files.stores
  await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
  await sites.createSite({ id: own, name: 'Shop', dataCentre: 'us', renderingEngine: true }, entry)
  const now = options.clock?.wall ?? Date.now
  const issueToken: UploadsUnderTest['issueToken'] = async ({ user = 'ann' } = {}) => {
    const token = newToken()
    const expires = Math.floor(now() / 1000) + 30 * 24 * 3600
    await grants.put({ hash: hashToken(token), user, sites: [own], permissions: ['files'], expires }, [])
    return token
  }
  const standard = await issueToken()

  const call: UploadsUnderTest['call'] = async (
    method,
    path,
    { headers = {}, body, query = {}, token = standard } = {},
  ) => {
    const length: Record<string, string> =
      body === undefined || body instanceof Readable ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
    const sent = { Authorization: token, 'Tus-Resumable': '1.0.0', ...length, ...headers }
    const present = Object.entries(sent).filter((header): header is [string, string] => header[1] !== null)
    const stream = body instanceof Readable ? body : Readable.from(body === undefined ? [] : [Buffer.from(body)])
    return send(files.handler, method, `/api/v2/admin/sites/${own}${path}`, {
      query,
      headers: Object.fromEntries(present),
      body: stream,
    })
  }

  return {
    ...files,
    site: own,
    issueToken,
    call,
    create: (name, length, { folder = '', headers, ...more } = {}) =>
      call('POST', `/storage${folder}`, {
        ...more,
        headers: {
          'Upload-Metadata': `filename ${base64(name)}`,
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
    async content(path) {
      const headers = { 'Tus-Resumable': null }
      const { status, text } = await call('GET', `/storage/${path}`, { headers })
      return status === 200 ? text : undefined
    },
  }
}
