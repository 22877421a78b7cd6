import { createHash, type Hash } from 'node:crypto'
import { ServiceError } from '../core/errors.ts'
import type { Request } from './request.ts'

interface Digest {
  readonly header: string
  readonly algorithm: 'md5' | 'sha256'
  readonly value: Buffer
}

const malformed = (header: string, form: string) =>
  new ServiceError('checksumMismatch', { message: `${header} is malformed. Send ${form}.` })

const isBase64Of = (length: number, value: Buffer, text: string): boolean =>
  value.length === length && value.toString('base64') === text

const readMd5 = (header: string): Digest => {
  const value = Buffer.from(header, 'base64')
  if (isBase64Of(16, value, header.trim())) return { header: 'Content-MD5', algorithm: 'md5', value }
  throw malformed('Content-MD5', 'the 16 bytes of the MD5 of the body in base64')
}

// One member of a dictionary of byte sequences (RFC 9651, section 3.2); its parameters are ignored.
const key = '[a-z*][a-z0-9_.*-]*'
const bytes = ':([A-Za-z0-9+/]*={0,2}):'
const parameters = `(?:; *${key}(?:=[!#-+\\--:<-~]+)?)*`
const member = new RegExp(`(${key})=${bytes}${parameters}[ \\t]*(?:,[ \\t]*(?=.)|$)`, 'y')

const digestForm = 'a list like sha-256=:…:, with the digest of the body in base64 between the colons'

const readContentDigest = (header: string): Digest | undefined => {
  const text = header.trim()
  let sha256: string | undefined
  for (member.lastIndex = 0; member.lastIndex < text.length; ) {
    const found = member.exec(text)
    if (!found) throw malformed('Content-Digest', digestForm)
    if (found[1] === 'sha-256') sha256 = found[2]
  }
  if (sha256 === undefined) return undefined
  const value = Buffer.from(sha256, 'base64')
  if (isBase64Of(32, value, sha256)) return { header: 'Content-Digest', algorithm: 'sha256', value }
  throw malformed('Content-Digest', digestForm)
}

/** A malformed digest is refused (RFC 9651, section 4.2). Errors: checksumMismatch. */
export const digestsOf = (headers: Request['headers']): readonly Digest[] => {
  const { 'content-md5': md5, 'content-digest': contentDigest } = headers
  return [
    md5 === undefined ? undefined : readMd5(md5),
    contentDigest === undefined ? undefined : readContentDigest(contentDigest),
  ].filter((digest) => digest !== undefined)
}

export async function* checkedBy(digests: readonly Digest[], content: AsyncIterable<Uint8Array>) {
  const hashes = digests.map((digest): [Digest, Hash] => [digest, createHash(digest.algorithm)])
  for await (const chunk of content) {
    for (const [, hash] of hashes) hash.update(chunk)
    yield chunk
  }
  const wrong = hashes.find(([{ value }, hash]) => !hash.digest().equals(value))
  if (!wrong) return
  throw new ServiceError('checksumMismatch', {
    message: `The bytes do not match ${wrong[0].header}. Nothing was stored. Send the bytes again.`,
  })
}
