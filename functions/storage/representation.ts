import { entityTagOf, typedTagOf } from '../../lib/core/entity-tags.ts'
import { namesType } from '../../lib/http/negotiate.ts'
import type { Request } from '../../lib/http/request.ts'
import type { ObjectInfo } from '../../lib/storage/object-store.ts'

/** Every representation of a file has the same bytes under its own media type. */
export interface Representation {
  readonly contentType: string
  readonly tag: string
}

const anyBytes = 'application/octet-stream'

const bareType = /^\s*([!#$&^_.+0-9a-z-]+\/[!#$&^_.+0-9a-z-]+)\s*(?:;|$)/

/**
 * Bytes without a type, unless `Accept` names the file's own (S-66, S-67): scripts of old parse what is called JSON,
 * and run what is called a script. Each of the two has a tag of its own (RFC 9110, section 8.8.3): browsers keep the
 * one, ask for the other with its tag, and would go on calling it what it was called before.
 */
export const representationFor = (
  { version, contentType }: Pick<ObjectInfo, 'version' | 'contentType'>,
  request: Pick<Request, 'headers'>,
): Representation => {
  const [, own] = bareType.exec(contentType.toLowerCase()) ?? []
  return own !== undefined && own !== anyBytes && namesType(request, own)
    ? { contentType, tag: typedTagOf({ version }) }
    : { contentType: anyBytes, tag: entityTagOf({ version }) }
}

/**
 * On every answer with a file's bytes, and on a 304, since caches take over its headers. A page that somebody has
 * stored runs nothing and fetches nothing in the browser of who opens it: its address may hold a token.
 * (`Referrer-Policy` and `nosniff` are on every answer.)
 */
export const headersOfBytes = {
  'Content-Security-Policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
  Vary: 'Accept',
} as const
