import { isLoopback } from '../../lib/core/addresses.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { bodiesOf, operationsOn } from '../../lib/http/operation.ts'
import type { Request } from '../../lib/http/request.ts'
import { findHere } from '../../lib/http/resolve-site.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'

export const operation = operationsOn<AccessDeps>()

export const schemas = () => import('../../lib/contract/access/bodies.ts')

export const bodyOf = bodiesOf({ schemas, malformed: 'accessMalformed' })

const isPrivate = (url: string): boolean => {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''))
}

/** Errors: signInRefused. */
export const requireHttps = async ({ edge, insecureSignIn }: AccessDeps, { address }: Request): Promise<void> => {
  if (insecureSignIn || isLoopback(address) || isPrivate((await findHere(edge)).url)) return
  throw new ServiceError('signInRefused', {
    message:
      'The service accepts passwords only over https, except from its own machine. Use the https address. If the service has no https address, ' +
      'ask the operator to set --base-url, or --insecure-sign-in.',
  })
}
