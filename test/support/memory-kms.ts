import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'

const key = randomBytes(32)

const additional = (context: Readonly<Record<string, string>> = {}) =>
  Buffer.from(JSON.stringify(Object.entries(context).sort()))

const encrypt = (plaintext: Buffer, context: Buffer): Buffer => {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(context)
  const sealed = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed])
}

const decrypt = (blob: Buffer, context: Buffer): Buffer => {
  const decipher = createDecipheriv('aes-256-gcm', key, blob.subarray(0, 12)).setAAD(context)
  decipher.setAuthTag(blob.subarray(12, 28))
  return Buffer.concat([decipher.update(blob.subarray(28)), decipher.final()])
}

const answerOf = (target: string, body: Buffer): Record<string, string> => {
  const { Plaintext, CiphertextBlob, EncryptionContext } = JSON.parse(body.toString())
  const context = additional(EncryptionContext)
  return target.endsWith('.Encrypt')
    ? { CiphertextBlob: encrypt(Buffer.from(Plaintext, 'base64'), context).toString('base64') }
    : { Plaintext: decrypt(Buffer.from(CiphertextBlob, 'base64'), context).toString('base64') }
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
