import { documentationRoutes } from '../../lib/contract/routes/documentation.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { DocumentationDeps } from '../../lib/service/deps.ts'
import { getConsole, getConsoleAsset } from './console.ts'
import { getOpenApi, getReference, getReferenceAsset } from './reference.ts'

export const createDocumentationHandler = (deps: DocumentationDeps): Handler => {
  const operations = { getOpenApi, getReference, getReferenceAsset, getConsole, getConsoleAsset }
  return createHandler('documentation', documentationRoutes, operations, deps)
}
