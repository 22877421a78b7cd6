const group = 'documentation'

export const documentationRoutes = [
  { operation: 'getOpenApi', method: 'GET', path: '/openapi.json', group, public: true },
  { operation: 'getReference', method: 'GET', path: '/docs', group, public: true },
  { operation: 'getReferenceAsset', method: 'GET', path: '/docs/{asset}', group, public: true },
  { operation: 'getConsole', method: 'GET', path: '/console', group, public: true },
  { operation: 'getConsoleAsset', method: 'GET', path: '/console/{file}', group, public: true },
] as const

/** Files of the renderer's package, by their names on the page. */
export const referenceAssets = {
  'swagger-ui.css': { file: 'swagger-ui-dist/swagger-ui.css', type: 'text/css' },
  'swagger-ui-bundle.js': { file: 'swagger-ui-dist/swagger-ui-bundle.js', type: 'text/javascript' },
} as const

export type ReferenceAsset = keyof typeof referenceAssets

/** Paths in `node_modules`. The deployment packs them. */
export const referenceFiles: readonly string[] = Object.values(referenceAssets).map(({ file }) => file)
