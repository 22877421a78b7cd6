const v1 = '/api/v1/admin'
const v2 = '/api/v2/admin'
const users = `${v2}/sites/{site}/users` as const
const user = `${users}/{user}` as const
const group = 'access' as const
const read = { group, right: 'access:read' } as const
const write = { group, right: 'access:write' } as const
const open = { group, public: true } as const

// `{ownSite}`: a site of the caller, which is checked in another way than `{site}`.
export const accessRoutes = [
  { operation: 'signIn', method: 'POST', path: `${v2}/tokens`, ...open },
  { operation: 'signInV1', method: 'POST', path: `${v1}/tokens`, ...open, formats: ['json', 'xml'] },
  { operation: 'listIssuers', method: 'GET', path: `${v2}/sign-in`, ...open },
  { operation: 'beginExternalSignIn', method: 'GET', path: `${v2}/sign-in/{issuer}`, ...open },
  { operation: 'finishExternalSignIn', method: 'GET', path: `${v2}/sign-in/{issuer}/callback`, ...open },
  { operation: 'acceptInvitation', method: 'POST', path: `${v2}/invitations`, ...open },
  { operation: 'getMe', method: 'GET', path: `${v2}/me`, group },
  { operation: 'changePassword', method: 'PUT', path: `${v2}/me`, group },
  { operation: 'createSiteToken', method: 'POST', path: `${v2}/sites/{ownSite}/tokens`, group },
  { operation: 'listUsers', method: 'GET', path: users, ...read },
  { operation: 'addUser', method: 'POST', path: users, ...write },
  { operation: 'getUser', method: 'GET', path: user, ...read },
  { operation: 'changeUser', method: 'PUT', path: user, ...write },
  { operation: 'removeUser', method: 'DELETE', path: user, ...write },
  { operation: 'signOutOfSite', method: 'DELETE', path: `${v2}/sites/{ownSite}/tokens`, group },
  { operation: 'signOutV1', method: 'DELETE', path: `${v1}/tokens`, group, formats: ['json', 'xml'] },
  { operation: 'signOut', method: 'DELETE', path: `${v2}/tokens`, group },
] as const
