import { isDeepStrictEqual } from 'node:util'
import { storage } from '../support/paths.ts'
import {
  changesIn,
  digestOf,
  expectStatus,
  fill,
  type Judged,
  type Lane,
  readDigest,
  type Service,
  type Step,
  stepOf,
} from './lanes.ts'

interface OneUpload {
  readonly path: string
  readonly length: number
  readonly offset: number
  /** Unknown until the upload is created. */
  readonly url: string
}

interface Uploads {
  readonly done: readonly OneUpload[]
  readonly open: OneUpload | null
}

const contentOf = ({ path, length }: OneUpload): Buffer => fill(path.slice(-12), length)

const inTus = { 'Tus-Resumable': '1.0.0' }

const create = (uploads: Uploads, folder: string, name: string, length: number): Step<Uploads> => {
  const open = { path: `${folder}/${name}`, length, offset: 0, url: '' }
  const metadata = `filename ${Buffer.from(name).toString('base64')}`
  return {
    after: { ...uploads, open },
    async send({ request }) {
      const headers = { ...inTus, 'Upload-Length': String(length), 'Upload-Metadata': metadata }
      const answer = await expectStatus(request(`${storage}/${folder}`, { method: 'POST', headers }), name)
      return { ...uploads, open: { ...open, url: new URL(answer.headers.get('location') ?? '').pathname } }
    },
  }
}

const send = ({ request }: Service, upload: OneUpload, end: number): Promise<Response> => {
  const { url, offset } = upload
  const headers = { ...inTus, 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' }
  return request(url, { method: 'PATCH', headers, body: new Uint8Array(contentOf(upload).subarray(offset, end)) })
}

const append = ({ done, open }: Uploads & { readonly open: OneUpload }, end: number): Step<Uploads> => {
  const later = { ...open, offset: end }
  const after = end === open.length ? { done: [...done, later], open: null } : { done, open: later }
  return stepOf(`append to ${open.path} until ${end}`, after, (service) => send(service, open, end))
}

/** Checks that the file is complete, and that the history has one entry for it. */
const faultOfFile = async (judged: Judged, upload: OneUpload) => {
  const { path } = upload
  const expected = digestOf(contentOf(upload))
  const found = await readDigest(judged, `${storage}/${path}`)
  if (found !== expected) return `${path} holds ${found} in place of ${expected}`
  const [folder, name] = path.split('/')
  const changes = await changesIn(judged)
  const own = changes.filter(
    (change) => change.subject === folder && isDeepStrictEqual(change.details?.['names'], [name]),
  )
  return own.length === 1 ? undefined : `the history has ${own.length} entries of ${path}`
}

/** Checks that the upload has the acknowledged bytes, and accepts the remaining bytes. */
const faultOfOpen = async (judged: Judged, upload: OneUpload): Promise<string | undefined> => {
  const { headers, status } = await judged.request(upload.url, { method: 'HEAD', headers: inTus })
  const offset = Number(headers.get('upload-offset') ?? Number.NaN)
  if (!(offset >= upload.offset && offset <= upload.length)) {
    return `${upload.path} has ${upload.offset} acknowledged bytes, and HEAD answers ${status} with ${offset}`
  }
  if (offset < upload.length) {
    await expectStatus(send(judged, { ...upload, offset }, upload.length), `an append to ${upload.path}`)
  }
  return faultOfFile(judged, upload)
}

/** A lane of resumable uploads, each in several pieces. The sizes are in bytes. */
export const uploadChanges = (folder: string, sizes: readonly number[]): Lane<Uploads> => ({
  start: { done: [], open: null },
  next(uploads, count) {
    const { open } = uploads
    if (!open) return create(uploads, folder, `upload-${count}`, sizes[count % sizes.length] ?? 40_000)
    const piece = Math.ceil(open.length / (1 + ((count + 2) % 3)))
    return append({ ...uploads, open }, Math.min(open.offset + piece, open.length))
  },
  async faultIn(judged, { acknowledged: { done, open } }) {
    for (const upload of done) {
      const fault = await faultOfFile(judged, upload)
      if (fault !== undefined) return fault
    }
    return open ? faultOfOpen(judged, open) : undefined
  },
})
