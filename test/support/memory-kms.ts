import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'

/** The encrypted texts by their ciphertexts, which tell nothing about them. */
const encrypted = new Map<string, { readonly Plaintext: string; readonly EncryptionContext: unknown }>()

const answerOf = (target: string, body: Buffer): object => {
  const { Plaintext, CiphertextBlob, EncryptionContext } = JSON.parse(body.toString())
  if (target.endsWith('.Encrypt')) {
    const blob = Buffer.from(randomUUID()).toString('base64')
    encrypted.set(blob, { Plaintext, EncryptionContext })
    return { CiphertextBlob: blob }
  }
  const found = encrypted.get(CiphertextBlob)
  if (!found || !isDeepStrictEqual(found.EncryptionContext, EncryptionContext)) throw new Error('InvalidCiphertext')
  return { Plaintext: found.Plaintext }
}

/** Answers a request to KMS in memory. Returns false for a request to another service. */
export const answerKms = (target: unknown, body: Buffer, response: ServerResponse): boolean => {
  if (!String(target).startsWith('TrentService.')) return false
  const headers = { 'Content-Type': 'application/x-amz-json-1.1' }
  try {
    response.writeHead(200, headers).end(JSON.stringify(answerOf(String(target), body)))
  } catch {
    response.writeHead(400, headers).end('{"__type":"InvalidCiphertextException"}')
  }
  return true
}
