import { createHmac } from 'node:crypto'
import { answerFor, type FileAnswer, replyWith } from '../functions/storage/file-answer.ts'
import { ServiceError } from '../lib/core/errors.ts'
import { entityTagOf } from '../lib/core/headers.ts'
import { percentDecoded } from '../lib/core/names.ts'
import type { Clock } from '../lib/core/time.ts'
import type { EdgeDeps } from '../lib/http/admission.ts'
import { createHandler } from '../lib/http/handler.ts'
import type { PublicOperation } from '../lib/http/operation.ts'
import { createSecretCheck, type Handler, type Request, type RoutedRequest } from '../lib/http/request.ts'
import type { LinkTo } from '../lib/service/deps.ts'
import { asAttachment } from '../lib/storage/file-kind.ts'
import type { ObjectStore } from '../lib/storage/object-store.ts'
import { encodePath, nameOf } from '../lib/storage/path.ts'

// The links of `?link` on one machine (S-73). On AWS the links lead to the bucket.
const prefix = '/downloads'

// In milliseconds.
const lifetime = 300_000

interface Claim {
  readonly key: string
  readonly version: string
  readonly expires: number
}

const sign = (secret: Uint8Array, { key, version, expires }: Claim): string =>
  createHmac('sha256', secret)
    .update(JSON.stringify([key, version, expires]))
    .digest('base64url')

const refused = () =>
  new ServiceError('fileUnknown', { message: 'This link is wrong or has expired. Get a new one with ?link.' })

// A repeated parameter has a text that was never signed.
const textIn = (query: Request['query'], name: string): string => query.get(name)?.join() ?? ''

export const createLinkTo =
  (secret: Uint8Array, { wall }: Pick<Clock, 'wall'>): LinkTo =>
  async ({ key, version }, { url }) => {
    const expires = wall() + lifetime
    const signature = sign(secret, { key, version, expires })
    const query = new URLSearchParams({ version, expires: String(expires), signature })
    return { url: `${url}${prefix}/${encodePath(key)}?${query}`, expires }
  }

// Errors: fileUnknown, whatever is wrong with the link.
const claimIn = ({ params, query }: RoutedRequest, secret: Uint8Array, now: number): Claim => {
  const claim = {
    key: percentDecoded(params['key'] ?? '', refused),
    version: textIn(query, 'version'),
    expires: Number(textIn(query, 'expires')),
  }
  const isSignature = createSecretCheck([sign(secret, claim)])
  if (!isSignature(textIn(query, 'signature')) || claim.expires <= now) throw refused()
  return claim
}

const anyType = 'application/octet-stream'

const routes = [
  { operation: 'download', method: 'GET', path: `${prefix}/{key+}`, group: 'storage', public: true },
] as const

export const isDownload = (path: string): boolean => path.startsWith(`${prefix}/`)

/**
 * Answers the version that the link names, or a range of it, as long as it is kept. 404/104001 for a link that is wrong
 * or has expired.
 */
export const createDownloads = (files: ObjectStore, secret: Uint8Array, edge: EdgeDeps): Handler => {
  const download: PublicOperation = async (request) => {
    const { key, version } = claimIn(request, secret, edge.clock.wall())
    let choice: FileAnswer | undefined
    const object = await files.readVersion(key, version, (info) => {
      // At this address the file has a single media type, and a single tag.
      choice = answerFor({ ...info, contentType: anyType }, request, undefined)
      return choice.bytes
    })
    if (!object || !choice) throw refused()
    // A browser must not run an uploaded page here.
    const disposition = asAttachment(nameOf(key))
    const headers = { type: anyType, ETag: entityTagOf(object.info), 'Content-Disposition': disposition }
    return replyWith(object, choice, headers, undefined)
  }
  return createHandler('storage', routes, { download }, { edge })
}
