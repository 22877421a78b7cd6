import { hash, randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import {
  answer,
  bytesIn,
  metadataIn,
  noSuchKey,
  preconditionFailed,
  Refusal,
  rangeIn,
  requireTag,
  type S3Answer,
  type S3Request,
  typeIn,
  xmlAnswer,
  xmlIn,
} from './s3-messages.ts'
import { allOf, tag, textIn, urlEncoded } from './s3-xml.ts'

/** Bytes with their MD5. Objects share pieces, so a file of many gigabytes needs little memory. */
interface Piece {
  readonly bytes: Buffer
  readonly digest: Buffer
}

interface Version {
  readonly id: string
  readonly etag: string
  /** Undefined for a delete marker. */
  readonly pieces?: readonly Piece[]
  readonly modified: Date
  readonly type: string
  readonly metadata: Readonly<Record<string, string>>
}

type Content = Version & { readonly pieces: readonly Piece[] }

const hasContent = (version: Version): version is Content => version.pieces !== undefined

interface Part {
  readonly piece: Piece
  readonly checksum: string | undefined
}

interface Upload extends Pick<Version, 'type' | 'metadata'> {
  readonly key: string
  readonly parts: Map<number, Part>
  /** The algorithm of the checksums of all parts. */
  readonly algorithm: string | undefined
}

/** In bytes. Only the last part may be smaller ("Multipart upload limits" in the user guide). */
const smallestPart = 5 * 1024 * 1024

interface Options {
  /** All calls of an upload must use the same checksum algorithm ("Checking object integrity" in the user guide). */
  readonly needsChecksums?: boolean
  /** Then entity tags are not the MD5 of the bytes ("Object" in the API reference). */
  readonly encryptsWithKms?: boolean
}

export interface MemoryS3 {
  /** Replaces the transport of a client. */
  readonly requestHandler: {
    handle(
      request: S3Request,
      options?: { readonly abortSignal?: AbortSignal | undefined },
    ): Promise<{ response: S3Answer }>
  }
  readonly requests: readonly S3Request[]
  /** Runs before the answer to each request. If it throws an error, the client fails with that error. */
  before: (request: S3Request) => Promise<void>
}

const md5 = (bytes: Buffer) => hash('md5', bytes, 'buffer')
const pieceOf = (bytes: Buffer): Piece => {
  let digest: Buffer | undefined
  return {
    bytes,
    get digest() {
      digest ??= md5(bytes)
      return digest
    },
  }
}
const sizeOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)
/** The content as one piece, which is shared if possible. */
const joined = (pieces: readonly Piece[]): Piece => {
  const [first] = pieces
  return first && pieces.length === 1 ? first : pieceOf(Buffer.concat(pieces.map(({ bytes }) => bytes)))
}
/** The pieces of a range. Whole pieces are not copied. */
const cut = (pieces: readonly Piece[], first: number, last: number): Piece => {
  let start = 0
  const within = pieces.flatMap((piece) => {
    const { bytes } = piece
    const [from, to] = [Math.max(first - start, 0), Math.min(last + 1 - start, bytes.length)]
    start += bytes.length
    if (from >= to) return []
    return to - from === bytes.length ? piece : pieceOf(bytes.subarray(from, to))
  })
  return joined(within)
}
const isPlain = (text: string) => /^[ -~]*$/.test(text)
/** If unknown query parameters were ignored, a request could get the answer to another operation. */
const knownQueries = new Set(
  `delete delimiter encoding-type key-marker list-type max-keys part-number-marker partNumber prefix start-after uploadId
  uploads version-id-marker versionId versions x-id`.split(/\s+/),
)
const isOfSignedUrl = (name: string) => /^(x-amz-|response-)/i.test(name)
/** Sorts keys in the byte order of UTF-8, which equals the character order for ASCII. */
const compare = (a: string, b: string) => {
  if (isPlain(a) && isPlain(b)) return a < b ? -1 : Number(a > b)
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
/** S3 lists up to 1,000 keys per page. Smaller pages prove the same. */
const partsInAPage = 2

/** S3 has no fractions of seconds. */
const wholeSecond = (moment: Date): string => `${moment.toISOString().slice(0, 19)}.000Z`

const unquote = (tag: string) => tag.replaceAll('"', '')

/** S3 refuses a name that it never gives to versions, and a marker for which the key has no version. */
const invalidArgument = () => new Refusal(400, 'InvalidArgument')

/** The signal ends the wait, as in the transport of the SDK. */
const cutBy = async (signal: AbortSignal | undefined, waiting: Promise<void>): Promise<void> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(Object.assign(new Error('Request aborted'), { name: 'AbortError' }))
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  await Promise.race([promise, waiting]).finally(() => signal?.removeEventListener('abort', abort))
}

export const createMemoryS3 = ({ needsChecksums = false, encryptsWithKms = false }: Options = {}): MemoryS3 => {
  /** Versions by key, the newest first. */
  const objects = new Map<string, Version[]>()
  const uploads = new Map<string, Upload>()
  const requests: S3Request[] = []
  let count = 0
  /** All keys in order. */
  const keys: string[] = []
  const countBefore = (isBefore: (key: string) => boolean): number => {
    let [low, high] = [0, keys.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(keys[middle] ?? '')) low = middle + 1
      else high = middle
    }
    return low
  }
  const startOf = (text: string) => countBefore((key) => compare(key, text) < 0)
  const startBehind = (after: string, prefix: string) => startOf(compare(after, prefix) > 0 ? after : prefix)
  const endOf = (prefix: string) => countBefore((key) => key.startsWith(prefix) || compare(key, prefix) < 0)

  const present = (key: string): Content | undefined => {
    const version = objects.get(key)?.[0]
    return version && hasContent(version) ? version : undefined
  }
  const add = (key: string, version: Omit<Version, 'id' | 'modified'>): Version => {
    count += 1
    const before = objects.get(key) ?? []
    // Versions of a key have different times, so their order is known.
    const modified = new Date(Math.max(Date.now(), (before[0]?.modified.getTime() ?? 0) + 1))
    const added = { ...version, id: `version-${count}`, modified }
    if (before.length === 0) keys.splice(startOf(key), 0, key)
    objects.set(key, [added, ...before])
    return added
  }
  const made = ({ id, etag }: Version) => answer(200, { etag: `"${etag}"`, 'x-amz-version-id': id })
  const hide = (key: string, match: string | undefined): Version => {
    const version = present(key)
    if (match !== undefined && !version) throw noSuchKey()
    if (match !== undefined && unquote(match) !== version?.etag) throw preconditionFailed()
    return add(key, { etag: '', type: '', metadata: {} })
  }
  const removeVersion = (key: string, version: string): void => {
    const left = objects.get(key)?.filter(({ id }) => id !== version) ?? []
    if (left.length > 0) objects.set(key, left)
    else if (objects.delete(key)) keys.splice(startOf(key), 1)
  }
  const uploadOf = (id: string): Upload => {
    const upload = uploads.get(id)
    if (!upload) throw new Refusal(404, 'NoSuchUpload')
    return upload
  }

  const stateOf = (key: string, wanted: string | undefined | null): Content => {
    if (wanted && !/^version-\d+$/.test(wanted)) throw invalidArgument()
    const version = wanted ? objects.get(key)?.find(({ id }) => id === wanted) : present(key)
    if (!version) throw noSuchKey()
    if (!hasContent(version)) throw new Refusal(405, 'MethodNotAllowed')
    return version
  }

  const read = (key: string, { method, headers, query }: S3Request): S3Answer => {
    const wanted = String(query?.['versionId'] ?? '')
    const version = stateOf(key, wanted)
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

  /** Returns the headers with the checksum of the part. */
  const takePart = ({ headers, query = {} }: S3Request, piece: Piece): Record<string, string> => {
    const { parts, algorithm } = uploadOf(String(query['uploadId']))
    const isDigested = headers['x-amz-checksum-sha256'] !== undefined
    const named = headers['x-amz-sdk-checksum-algorithm'] ?? (isDigested ? 'SHA256' : undefined)
    if (needsChecksums && named !== algorithm) throw new Refusal(400, 'InvalidRequest')
    const header = `x-amz-checksum-${named?.toLowerCase()}`
    const checksum = headers[header]
    parts.set(Number(query['partNumber']), { piece, checksum })
    return checksum === undefined ? {} : { [header]: checksum }
  }

  const copyPart = ({ pieces }: Content, request: S3Request): S3Answer => {
    const { headers } = request
    const { first, last } = rangeIn(headers['x-amz-copy-source-range'], sizeOf(pieces)) ?? { first: 0, last: Infinity }
    const piece = cut(pieces, first, last)
    takePart(request, piece)
    return xmlAnswer('CopyPartResult', tag('ETag', `"${piece.digest.toString('hex')}"`))
  }

  const copy = (key: string, request: S3Request, from: string): S3Answer => {
    const { headers, query = {} } = request
    const [path = '', wanted] = from.split('?versionId=')
    const named = decodeURIComponent(path).replace(/^\/?[^/]+\//, '')
    const source = stateOf(named, wanted)
    const match = headers['x-amz-copy-source-if-match']
    if (match && unquote(match) !== source.etag) throw preconditionFailed()
    if (query['uploadId']) return copyPart(source, request)
    requireTag(request, present(key)?.etag)
    const replaces = headers['x-amz-metadata-directive'] === 'REPLACE'
    const { type, metadata } = replaces ? { type: typeIn(request), metadata: metadataIn(request) } : source
    const whole = joined(source.pieces)
    const { id, etag } = add(key, { pieces: [whole], etag: whole.digest.toString('hex'), type, metadata })
    const result = xmlAnswer('CopyObjectResult', tag('ETag', `"${etag}"`))
    return { ...result, headers: { ...result.headers, 'x-amz-version-id': id } }
  }

  const put = (key: string, request: S3Request): S3Answer => {
    const { headers, query = {} } = request
    if (headers['x-amz-copy-source']) return copy(key, request, headers['x-amz-copy-source'])
    const bytes = bytesIn(request)
    const piece = encryptsWithKms ? { bytes, digest: randomBytes(16) } : pieceOf(bytes)
    const sum = headers['x-amz-checksum-sha256']
    if (sum !== undefined && sum !== hash('sha256', piece.bytes, 'base64')) throw new Refusal(400, 'BadDigest')
    const etag = piece.digest.toString('hex')
    if (query['uploadId']) return answer(200, { ...takePart(request, piece), etag: `"${etag}"` })
    requireTag(request, present(key)?.etag)
    return made(add(key, { pieces: [piece], etag, type: typeIn(request), metadata: metadataIn(request) }))
  }

  /** The parts that a completion names. Their numbers have no gaps. */
  const partsIn = ({ parts, algorithm }: Upload, xml: string): readonly Piece[] => {
    const named = allOf(xml, 'Part')
    if (named.length === 0) throw new Refusal(400, 'MalformedXML')
    return named.map((one, index) => {
      const part = parts.get(index + 1)
      const etag = part?.piece.digest.toString('hex')
      const isKnown = Number(textIn(one, 'PartNumber')) === index + 1 && unquote(textIn(one, 'ETag')) === etag
      if (!part || !isKnown) throw new Refusal(400, 'InvalidPart')
      const { piece, checksum } = part
      if (index + 1 < named.length && piece.bytes.length < smallestPart) throw new Refusal(400, 'EntityTooSmall')
      const isSame = !algorithm || textIn(one, `Checksum${algorithm}`) === String(checksum ?? '')
      if (!isSame) throw new Refusal(400, 'InvalidRequest')
      return piece
    })
  }

  const complete = (id: string, request: S3Request): S3Answer => {
    const upload = uploadOf(id)
    const { key, type, metadata } = upload
    const chosen = partsIn(upload, xmlIn(request))
    // An upload whose completion was refused may be completed later.
    requireTag(request, present(key)?.etag)
    uploads.delete(id)
    const etag = `${md5(Buffer.concat(chosen.map(({ digest }) => digest))).toString('hex')}-${chosen.length}`
    const version = add(key, { pieces: chosen, etag, type, metadata })
    const result = xmlAnswer('CompleteMultipartUploadResult', tag('Key', key) + tag('ETag', `"${etag}"`))
    return { ...result, headers: { ...result.headers, 'x-amz-version-id': version.id } }
  }

  const removeBatch = (request: S3Request): S3Answer => {
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

  const post = (key: string, request: S3Request): S3Answer => {
    const { query = {} } = request
    if (query['delete'] !== undefined) return removeBatch(request)
    if (query['uploadId']) return complete(String(query['uploadId']), request)
    if (query['uploads'] === undefined) throw new Refusal(405, 'MethodNotAllowed')
    count += 1
    const id = `upload-${count}`
    const algorithm = request.headers['x-amz-checksum-algorithm']
    uploads.set(id, { key, parts: new Map(), algorithm, type: typeIn(request), metadata: metadataIn(request) })
    return xmlAnswer('InitiateMultipartUploadResult', tag('Key', key) + tag('UploadId', id))
  }

  const remove = (key: string, { query = {}, headers }: S3Request): S3Answer => {
    if (query['uploadId']) {
      uploadOf(String(query['uploadId']))
      uploads.delete(String(query['uploadId']))
    } else if (query['versionId']) {
      removeVersion(key, String(query['versionId']))
    } else return answer(204, { 'x-amz-version-id': hide(key, headers['if-match']).id, 'x-amz-delete-marker': 'true' })
    return answer(204)
  }

  const listUploads = (): S3Answer => {
    const entries = [...uploads].map(([id, { key }]) => `<Upload>${tag('Key', key)}${tag('UploadId', id)}</Upload>`)
    return xmlAnswer('ListMultipartUploadsResult', entries.join(''))
  }

  /** As in S3, every page has a marker, even the last page (`0`). A listing after `0` starts from the beginning. */
  const listParts = (id: string, marker: number): S3Answer => {
    const { algorithm, ...upload } = uploadOf(id)
    const parts = [...upload.parts].filter(([number]) => number > marker).sort(([a], [b]) => a - b)
    const page = parts.slice(0, partsInAPage)
    const entries = page.map(([number, { piece, checksum }]) => {
      const described = tag('ETag', `"${piece.digest.toString('hex')}"`) + tag('Size', piece.bytes.length)
      const sum = checksum ? tag(`Checksum${algorithm}`, checksum) : ''
      return `<Part>${tag('PartNumber', number)}${described}${sum}</Part>`
    })
    const isTruncated = tag('IsTruncated', String(page.length < parts.length))
    const next = tag('NextPartNumberMarker', page.at(-1)?.[0] ?? 0)
    return xmlAnswer('ListPartsResult', isTruncated + next + entries.join(''))
  }

  const folderOf = (key: string, prefix: string, delimiter: string): string | undefined => {
    const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1
    return end < 0 ? undefined : key.slice(0, end + 1)
  }

  /** At most this many keys after `after`, in order. If there is a delimiter, they are grouped into folders. */
  const entriesBehind = (after: string, prefix: string, delimiter: string, most: number): string[] => {
    const entries: string[] = []
    const end = endOf(prefix)
    let index = startBehind(after, prefix)
    while (index < end && entries.length < most) {
      const key = keys[index++] ?? ''
      if (key === after || !present(key)) continue
      const folder = folderOf(key, prefix, delimiter)
      entries.push(folder ?? key)
      if (folder !== undefined) index = endOf(folder)
    }
    return entries
  }

  const list = (query: NonNullable<S3Request['query']>): S3Answer => {
    const text = (name: string) => String(query[name] ?? '')
    const delimiter = text('delimiter')
    const write = text('encoding-type') === 'url' ? urlEncoded : String
    const most = Number(query['max-keys'] ?? 1000)
    const entries = entriesBehind(text('start-after'), text('prefix'), delimiter, most + 1)
    const shown = entries.slice(0, most).map((key) => {
      const version = present(key)
      // A key that ends in the delimiter also counts as that folder.
      if (!version || (delimiter && key.endsWith('/') && key !== query['prefix'])) {
        return `<CommonPrefixes>${tag('Prefix', write(key))}</CommonPrefixes>`
      }
      const described = tag('Size', sizeOf(version.pieces)) + tag('LastModified', wholeSecond(version.modified))
      return `<Contents>${tag('Key', write(key))}${tag('ETag', `"${version.etag}"`)}${described}</Contents>`
    })
    return xmlAnswer('ListBucketResult', tag('IsTruncated', `${shown.length < entries.length}`) + shown.join(''))
  }

  /** Versions and delete markers behind a key or version. A delimiter folds entries of a folder into one. */
  const statesBehind = (query: NonNullable<S3Request['query']>): (Version & { key: string; isLatest: boolean })[] => {
    const text = (name: string) => String(query[name] ?? '')
    const [prefix, key, id] = [text('prefix'), text('key-marker'), text('version-id-marker')]
    return keys.slice(startBehind(key, prefix), endOf(prefix)).flatMap((one) => {
      const versions = (objects.get(one) ?? []).map((version, at) => ({ ...version, key: one, isLatest: at === 0 }))
      if (!key || compare(one, key) > 0) return versions
      if (one !== key || !id) return []
      const index = versions.findIndex((version) => version.id === id)
      if (index < 0) throw invalidArgument()
      return versions.slice(index + 1)
    })
  }

  const describeState = (state: ReturnType<typeof statesBehind>[number], write: (key: string) => string): string => {
    const { key, id, isLatest, pieces, etag, modified } = state
    const kind = pieces ? 'Version' : 'DeleteMarker'
    const known = tag('IsLatest', `${isLatest}`) + tag('LastModified', wholeSecond(modified))
    const content = pieces ? tag('Size', sizeOf(pieces)) + tag('ETag', `"${etag}"`) : ''
    return `<${kind}>${tag('Key', write(key))}${tag('VersionId', id)}${known}${content}</${kind}>`
  }

  const listVersions = (query: NonNullable<S3Request['query']>): S3Answer => {
    const isEncoded = query['encoding-type'] === 'url'
    const write = isEncoded ? urlEncoded : String
    const [prefix = '', delimiter = ''] = ['prefix', 'delimiter'].map((name) => String(query[name] ?? ''))
    // A folder appears once, at its first entry.
    const entries = new Map<string, { readonly key: string; readonly id: string }>()
    for (const state of statesBehind(query)) {
      const folder = folderOf(state.key, prefix, delimiter)
      if (folder === undefined) entries.set(describeState(state, write), state)
      else entries.set(`<CommonPrefixes>${tag('Prefix', write(folder))}</CommonPrefixes>`, { key: folder, id: '' })
    }
    const shown = [...entries].slice(0, Number(query['max-keys'] ?? 1000))
    const last = shown.length < entries.size ? shown.at(-1)?.[1] : undefined
    const next = last ? tag('NextKeyMarker', write(last.key)) + tag('NextVersionIdMarker', last.id) : ''
    const about = tag('IsTruncated', `${last !== undefined}`) + (isEncoded ? tag('EncodingType', 'url') : '')
    return xmlAnswer('ListVersionsResult', about + next + shown.map(([xml]) => xml).join(''))
  }

  const get = (key: string, request: S3Request): S3Answer => {
    const { query = {} } = request
    if (query['list-type']) return list(query)
    if (query['versions'] !== undefined) return listVersions(query)
    if (query['uploadId']) return listParts(String(query['uploadId']), Number(query['part-number-marker'] ?? 0))
    return query['uploads'] === undefined ? read(key, request) : listUploads()
  }
  const answers: Readonly<Record<string, typeof get>> = { GET: get, HEAD: read, PUT: put, POST: post, DELETE: remove }

  const respond = (request: S3Request): S3Answer => {
    const key = decodeURIComponent(request.path.replace(/^\/[^/]*\/?/, ''))
    const respondTo = answers[request.method]
    if (!respondTo) throw new Refusal(405, 'MethodNotAllowed')
    const unknown = Object.keys(request.query ?? {}).find((name) => !knownQueries.has(name) && !isOfSignedUrl(name))
    if (unknown !== undefined) throw new Error(`The bucket in memory does not know ?${unknown}`)
    return respondTo(key, request)
  }

  const s3: MemoryS3 = {
    requests,
    before: async () => undefined,
    requestHandler: {
      async handle(request, { abortSignal } = {}) {
        requests.push(request)
        // Concurrent requests take turns.
        await turn()
        try {
          await cutBy(abortSignal, s3.before(request))
          return { response: respond(request) }
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
