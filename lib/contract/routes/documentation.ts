const group = 'documentation'

export const documentationRoutes = [
  { operation: 'getOpenApi', method: 'GET', path: '/openapi.json', group, public: true },
  { operation: 'getReference', method: 'GET', path: '/docs', group, public: true },
  { operation: 'getReferenceAsset', method: 'GET', path: '/docs/{asset}', group, public: true },
  { operation: 'getConsole', method: 'GET', path: '/console', group, public: true },
  { operation: 'getConsoleAsset', method: 'GET', path: '/console/{file}', group, public: true },
] as const
