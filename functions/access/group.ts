import { accessRoutes } from '../../lib/contract/routes/access.ts'
import { onDemand } from '../../lib/core/cached-lookup.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'
import { beginExternalSignIn, finishExternalSignIn, type IssuerDeps, listIssuers } from './external-sign-in.ts'
import * as sessions from './sessions.ts'
import * as users from './users.ts'

const operations = {
  listIssuers,
  beginExternalSignIn,
  finishExternalSignIn,
  ...sessions,
  signOutV1: sessions.signOut,
  signOutOfSite: sessions.signOut,
  ...users,
}

export const createAccessHandler = (given: AccessDeps): Handler => {
  // Not in `lib/service`, because every bundle that imports `lib/service` would then contain this code.
  const openIssuerClient = onDemand(async () =>
    (await import('../../lib/access/issuers/issuer-client.ts')).createIssuerClient(given),
  )
  const deps: IssuerDeps = { ...given, openIssuerClient }
  return createHandler('access', accessRoutes, operations, deps)
}
