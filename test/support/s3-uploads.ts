import {
  answer,
  metadataIn,
  Refusal,
  requireTag,
  type S3Answer,
  type S3Request,
  typeIn,
  unquote,
  xmlAnswer,
  xmlIn,
} from './s3-messages.ts'
import { md5, type Piece } from './s3-pieces.ts'
import type { Version, Versions } from './s3-versions.ts'
import { allOf, tag, textIn } from './s3-xml.ts'

interface Part {
  readonly piece: Piece
  readonly checksum: string | undefined
}

interface Upload extends Pick<Version, 'type' | 'metadata'> {
  readonly key: string
  readonly begun: number
  readonly parts: Map<number, Part>
  /** The algorithm of the checksums of all parts. */
  readonly algorithm: string | undefined
}

/** In bytes. Only the last part may be smaller ("Multipart upload limits" in the user guide). */
const smallestPart = 5 * 1024 * 1024

/** S3 lists up to 1,000 keys per page. Smaller pages prove the same. */
const partsInAPage = 2

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

export type Uploads = ReturnType<typeof createUploads>

export const createUploads = ({ present, add }: Versions, needsChecksums: boolean) => {
  const uploads = new Map<string, Upload>()
  let count = 0
  const uploadOf = (id: string): Upload => {
    const upload = uploads.get(id)
    if (!upload) throw new Refusal(404, 'NoSuchUpload')
    return upload
  }

  const begin = (key: string, request: S3Request): S3Answer => {
    count += 1
    const id = `upload-${count}`
    const algorithm = request.headers['x-amz-checksum-algorithm']
    const described = { type: typeIn(request), metadata: metadataIn(request) }
    uploads.set(id, { key, begun: Date.now(), parts: new Map(), algorithm, ...described })
    return xmlAnswer('InitiateMultipartUploadResult', tag('Key', key) + tag('UploadId', id))
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

  const complete = (id: string, request: S3Request): S3Answer => {
    const upload = uploadOf(id)
    const { key, type, metadata, begun } = upload
    const chosen = partsIn(upload, xmlIn(request))
    // An upload whose completion was refused may be completed later.
    requireTag(request, present(key)?.etag)
    uploads.delete(id)
    const etag = `${md5(Buffer.concat(chosen.map(({ digest }) => digest))).toString('hex')}-${chosen.length}`
    const version = add(key, { pieces: chosen, etag, type, metadata }, begun)
    const described = tag('Key', key) + tag('ETag', `"${etag}"`)
    return xmlAnswer('CompleteMultipartUploadResult', described, { 'x-amz-version-id': version.id })
  }

  const cancel = (id: string): S3Answer => {
    uploadOf(id)
    uploads.delete(id)
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

  return { begin, takePart, complete, cancel, listUploads, listParts }
}
