const v1 = '/api/v1/admin'
const v2 = '/api/v2/admin'
const group = 'access' as const

export const accessRoutes = [
  { operation: 'signIn', method: 'POST', path: `${v2}/tokens`, group, public: true },
  { operation: 'signInV1', method: 'POST', path: `${v1}/tokens`, group, public: true, formats: ['json', 'xml'] },
] as const
