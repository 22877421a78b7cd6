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

const lengths = { md5: 16, sha256: 32 }

const readDigest = (header: string, algorithm: Digest['algorithm'], text: string, form: string): Digest => {
  const value = Buffer.from(text, 'base64')
  if (value.length === lengths[algorithm] && value.toString('base64') === text) return { header, algorithm, value }
  throw malformed(header, form)
}

// One member of a dictionary of byte sequences (RFC 9651, section 3.2); its parameters are ignored.
const key = '[a-z*][a-z0-9_.*-]*'
const bytes = ':([A-Za-z0-9+/]*={0,2}):'
const parameters = `(?:; *${key}(?:=[!#-+\\--:<-~]+)?)*`
const member = new RegExp(`(${key})=${bytes}${parameters}[ \\t]*(?:,[ \\t]*(?=.)|$)`, 'y')

const md5Form = 'the 16 bytes of the MD5 of the body in base64'
const digestForm = 'a list like sha-256=:…:, with the digest of the body in base64 between the colons'

const readContentDigest = (header: string): readonly Digest[] => {
  const text = header.trim()
  let sha256: string | undefined
  for (member.lastIndex = 0; member.lastIndex < text.length; ) {
    const found = member.exec(text)
    if (!found) throw malformed('Content-Digest', digestForm)
    if (found[1] === 'sha-256') sha256 = found[2]
  }
  return sha256 === undefined ? [] : [readDigest('Content-Digest', 'sha256', sha256, digestForm)]
}

/** A malformed digest is refused (RFC 9651, section 4.2). Errors: checksumMismatch. */
export const digestsOf = (headers: Request['headers']): readonly Digest[] => {
  const { 'content-md5': md5, 'content-digest': contentDigest = '' } = headers
  const ofMd5 = md5 === undefined ? [] : [readDigest('Content-MD5', 'md5', md5.trim(), md5Form)]
  return [...ofMd5, ...readContentDigest(contentDigest)]
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
