import { entityTagOf, typedTagOf } from '../../lib/core/entity-tags.ts'
import { namesType } from '../../lib/http/negotiate.ts'
import type { Request } from '../../lib/http/request.ts'
import type { ObjectInfo } from '../../lib/storage/object-store.ts'

export interface Representation {
  readonly contentType: string
  readonly tag: string
}

const anyBytes = 'application/octet-stream'

const bareType = /^\s*([!#$&^_.+0-9a-z-]+\/[!#$&^_.+0-9a-z-]+)\s*(?:;|$)/

/**
 * The type is given only when `Accept` names it (S-66, S-67): old clients would parse JSON and run scripts. Each type
 * has its own tag (RFC 9110, section 8.8.3): otherwise a browser would keep the wrong type after a 304.
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
 * Also on a 304, because caches take its headers over. A stored page must not run in a browser: its address may hold a
 * token.
 */
export const headersOfBytes = {
  'Content-Security-Policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
  Vary: 'Accept',
} as const
