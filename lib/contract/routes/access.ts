const v1 = '/api/v1/admin'
const v2 = '/api/v2/admin'
const group = 'access' as const
const keys = `${v2}/sites/{site}/keys`

export const accessRoutes = [
  { operation: 'signIn', method: 'POST', path: `${v2}/tokens`, group, public: true },
  { operation: 'signInV1', method: 'POST', path: `${v1}/tokens`, group, public: true, formats: ['json', 'xml'] },
  { operation: 'listKeys', method: 'GET', path: keys, group, right: 'access:write' },
  { operation: 'createKey', method: 'POST', path: keys, group, right: 'access:write' },
  { operation: 'deleteKey', method: 'DELETE', path: `${keys}/{key}`, group, right: 'access:write' },
] as const
