/** The rows of this group in the route table (`lib/contract/routes/routes.ts`). */
export const documentationRoutes = [
  { operation: 'getOpenApi', method: 'GET', path: '/openapi.json', group: 'documentation', public: true },
  { operation: 'getReference', method: 'GET', path: '/docs', group: 'documentation', public: true },
  { operation: 'getReferenceAsset', method: 'GET', path: '/docs/{asset}', group: 'documentation', public: true },
  { operation: 'getConsole', method: 'GET', path: '/console', group: 'documentation', public: true },
  { operation: 'getConsoleAsset', method: 'GET', path: '/console/{file}', group: 'documentation', public: true },
] as const
