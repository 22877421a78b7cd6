import { hash, randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { listObjects, listVersions } from './s3-listings.ts'
import {
  answer,
  bytesIn,
  metadataIn,
  preconditionFailed,
  Refusal,
  rangeIn,
  requireTag,
  type S3Answer,
  type S3Request,
  typeIn,
  unquote,
  xmlAnswer,
  xmlIn,
} from './s3-messages.ts'
import { cut, joined, pieceOf, sizeOf } from './s3-pieces.ts'
import { createUploads, type Uploads } from './s3-uploads.ts'
import { type Content, createVersions, type Version, type Versions } from './s3-versions.ts'
import { allOf, tag, textIn } from './s3-xml.ts'

interface Options {
  /** All calls of an upload must use the same checksum algorithm ("Checking object integrity" in the user guide). */
  readonly needsChecksums?: boolean
  /** Then entity tags are not the MD5 of the bytes ("Object" in the API reference). */
  readonly encryptsWithKms?: boolean
}

/** If unknown query parameters were ignored, a request could get the answer to another operation. */
const knownQueries = new Set(
  `delete delimiter encoding-type key-marker list-type max-keys part-number-marker partNumber prefix start-after uploadId
  uploads version-id-marker versionId versions x-id`.split(/\s+/),
)
const isOfSignedUrl = (name: string) => /^(x-amz-|response-)/i.test(name)

/** The signal ends the wait, as in the transport of the SDK. */
const cutBy = async (signal: AbortSignal | undefined, waiting: Promise<void>): Promise<void> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(Object.assign(new Error('Request aborted'), { name: 'AbortError' }))
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  await Promise.race([promise, waiting]).finally(() => signal?.removeEventListener('abort', abort))
}

interface Bucket {
  readonly versions: Versions
  readonly uploads: Uploads
  readonly encryptsWithKms: boolean
}

type Respond = (bucket: Bucket, key: string, request: S3Request) => S3Answer

const made = ({ id, etag }: Version) => answer(200, { etag: `"${etag}"`, 'x-amz-version-id': id })

const read: Respond = ({ versions }, key, { method, headers, query }) => {
  const wanted = String(query?.['versionId'] ?? '')
  const version = versions.stateOf(key, wanted)
  const { pieces, etag } = version
  if (headers['if-match'] && unquote(headers['if-match']) !== etag) throw preconditionFailed()
  const size = sizeOf(pieces)
  const range = rangeIn(headers['range'], size)
  const { first, last } = range ?? { first: 0, last: size - 1 }
  const described = {
    ...(range && { 'content-range': `bytes ${first}-${last}/${size}` }),
    etag: `"${etag}"`,
    'x-amz-version-id': version.id,
    'content-length': String(last + 1 - first),
    'content-type': version.type,
    'last-modified': version.modified.toUTCString(),
    ...version.metadata,
  }
  return answer(range ? 206 : 200, described, method === 'HEAD' ? '' : cut(pieces, first, last).bytes)
}

const copyPart = ({ uploads }: Bucket, { pieces }: Content, request: S3Request): S3Answer => {
  const { headers } = request
  const { first, last } = rangeIn(headers['x-amz-copy-source-range'], sizeOf(pieces)) ?? { first: 0, last: Infinity }
  const piece = cut(pieces, first, last)
  uploads.takePart(request, piece)
  return xmlAnswer('CopyPartResult', tag('ETag', `"${piece.digest.toString('hex')}"`))
}

const copy = (bucket: Bucket, key: string, request: S3Request, from: string): S3Answer => {
  const { headers, query = {} } = request
  const [path = '', wanted] = from.split('?versionId=')
  const named = decodeURIComponent(path).replace(/^\/?[^/]+\//, '')
  const source = bucket.versions.stateOf(named, wanted)
  const match = headers['x-amz-copy-source-if-match']
  if (match && unquote(match) !== source.etag) throw preconditionFailed()
  if (query['uploadId']) return copyPart(bucket, source, request)
  requireTag(request, bucket.versions.present(key)?.etag)
  const replaces = headers['x-amz-metadata-directive'] === 'REPLACE'
  const { type, metadata } = replaces ? { type: typeIn(request), metadata: metadataIn(request) } : source
  const whole = joined(source.pieces)
  const { id, etag } = bucket.versions.add(key, { pieces: [whole], etag: whole.digest.toString('hex'), type, metadata })
  return xmlAnswer('CopyObjectResult', tag('ETag', `"${etag}"`), { 'x-amz-version-id': id })
}

const put: Respond = (bucket, key, request) => {
  const { headers, query = {} } = request
  if (headers['x-amz-copy-source']) return copy(bucket, key, request, headers['x-amz-copy-source'])
  const bytes = bytesIn(request)
  const piece = bucket.encryptsWithKms ? { bytes, digest: randomBytes(16) } : pieceOf(bytes)
  const sum = headers['x-amz-checksum-sha256']
  if (sum !== undefined && sum !== hash('sha256', piece.bytes, 'base64')) throw new Refusal(400, 'BadDigest')
  const etag = piece.digest.toString('hex')
  if (query['uploadId']) return answer(200, { ...bucket.uploads.takePart(request, piece), etag: `"${etag}"` })
  requireTag(request, bucket.versions.present(key)?.etag)
  return made(bucket.versions.add(key, { pieces: [piece], etag, type: typeIn(request), metadata: metadataIn(request) }))
}

const removeBatch = ({ hide, removeVersion }: Versions, request: S3Request): S3Answer => {
  const xml = xmlIn(request)
  const isQuiet = textIn(xml, 'Quiet') === 'true'
  const reported = allOf(xml, 'Object').map((one) => {
    const key = textIn(one, 'Key')
    const id = textIn(one, 'VersionId')
    try {
      if (id) removeVersion(key, id)
      else hide(key, textIn(one, 'ETag') || undefined)
      return isQuiet ? '' : `<Deleted>${tag('Key', key)}</Deleted>`
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return `<Error>${tag('Key', key)}${tag('Code', error.code)}${tag('Message', error.code)}</Error>`
    }
  })
  return xmlAnswer('DeleteResult', reported.join(''))
}

const post: Respond = ({ versions, uploads }, key, request) => {
  const { query = {} } = request
  if (query['delete'] !== undefined) return removeBatch(versions, request)
  if (query['uploadId']) return uploads.complete(String(query['uploadId']), request)
  if (query['uploads'] === undefined) throw new Refusal(405, 'MethodNotAllowed')
  return uploads.begin(key, request)
}

const remove: Respond = ({ versions, uploads }, key, { query = {}, headers }) => {
  if (query['uploadId']) return uploads.cancel(String(query['uploadId']))
  if (query['versionId']) {
    versions.removeVersion(key, String(query['versionId']))
    return answer(204)
  }
  const { id } = versions.hide(key, headers['if-match'])
  return answer(204, { 'x-amz-version-id': id, 'x-amz-delete-marker': 'true' })
}

const get: Respond = (bucket, key, request) => {
  const { query = {} } = request
  const { versions, uploads } = bucket
  if (query['list-type']) return listObjects(versions, query)
  if (query['versions'] !== undefined) return listVersions(versions, query)
  if (query['uploadId']) return uploads.listParts(String(query['uploadId']), Number(query['part-number-marker'] ?? 0))
  return query['uploads'] === undefined ? read(bucket, key, request) : uploads.listUploads()
}

const answers: Readonly<Record<string, Respond>> = { GET: get, HEAD: read, PUT: put, POST: post, DELETE: remove }

const respond = (bucket: Bucket, request: S3Request): S3Answer => {
  const key = decodeURIComponent(request.path.replace(/^\/[^/]*\/?/, ''))
  const respondTo = answers[request.method]
  if (!respondTo) throw new Refusal(405, 'MethodNotAllowed')
  const unknown = Object.keys(request.query ?? {}).find((name) => !knownQueries.has(name) && !isOfSignedUrl(name))
  if (unknown !== undefined) throw new Error(`The bucket in memory does not know ?${unknown}`)
  return respondTo(bucket, key, request)
}

export const createMemoryS3 = ({ needsChecksums = false, encryptsWithKms = false }: Options = {}) => {
  const versions = createVersions()
  const bucket = { versions, uploads: createUploads(versions, needsChecksums), encryptsWithKms }
  const requests: S3Request[] = []
  const s3 = {
    requests,
    /** Runs before the answer to each request. If it throws an error, the client fails with that error. */
    before: async (_: S3Request): Promise<void> => undefined,
    requestHandler: {
      async handle(request: S3Request, { abortSignal }: { readonly abortSignal?: AbortSignal | undefined } = {}) {
        requests.push(request)
        // Concurrent requests take turns.
        await turn()
        try {
          await cutBy(abortSignal, s3.before(request))
          return { response: respond(bucket, request) }
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          const reported = `<Error>${tag('Code', error.code)}${tag('Message', error.code)}</Error>`
          return { response: answer(error.status, {}, request.method === 'HEAD' ? '' : reported) }
        }
      },
    },
  }
  return s3
}

export type MemoryS3 = ReturnType<typeof createMemoryS3>
