import { accessRoutes } from '../../lib/contract/routes/access.ts'
import type { OperationOf } from '../../lib/contract/routes/routes.ts'
import { onDemand } from '../../lib/core/on-demand.ts'
import type { AnyOperation } from '../../lib/http/admission.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'
import { beginExternalSignIn, finishExternalSignIn, type IssuerDeps, listIssuers } from './external-sign-in.ts'
import { createKey, deleteKey, listKeys } from './keys.ts'
import { changePassword, createSiteToken, getMe, signOut } from './sessions.ts'
import { acceptInvitation, signIn, signInV1 } from './sign-in.ts'
import { addUser, changeUser, getUser, listUsers, removeUser } from './users.ts'

export const createAccessHandler = (given: AccessDeps): Handler => {
  // Not in `lib/service`, because every bundle that imports `lib/service` would then contain this code.
  const openIssuerClient = onDemand(async () =>
    (await import('../../lib/access/issuers/issuer-client.ts')).createIssuerClient(given),
  )
  const deps: IssuerDeps = { ...given, openIssuerClient }
  const operations: Record<OperationOf<'access'>, AnyOperation> = {
    signIn: signIn(deps),
    signInV1: signInV1(deps),
    listIssuers: listIssuers(deps),
    beginExternalSignIn: beginExternalSignIn(deps),
    finishExternalSignIn: finishExternalSignIn(deps),
    acceptInvitation: acceptInvitation(deps),
    signOut: signOut(deps),
    signOutV1: signOut(deps),
    signOutOfSite: signOut(deps),
    createSiteToken: createSiteToken(deps),
    getMe,
    changePassword: changePassword(deps),
    listUsers: listUsers(deps),
    getUser: getUser(deps),
    addUser: addUser(deps),
    changeUser: changeUser(deps),
    removeUser: removeUser(deps),
    listKeys: listKeys(deps),
    createKey: createKey(deps),
    deleteKey: deleteKey(deps),
  }
  return createHandler('access', accessRoutes, operations, deps.edge)
}
