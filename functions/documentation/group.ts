import { documentationRoutes } from '../../lib/contract/routes/documentation.ts'
import type { OperationOf } from '../../lib/contract/routes/routes.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { PublicOperation } from '../../lib/http/public-operation.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { DocumentationDeps } from '../../lib/service/deps.ts'
import { getConsole, getConsoleAsset } from './console.ts'
import { getOpenApi, getReference, getReferenceAsset } from './reference.ts'

export const createDocumentationHandler = (deps: DocumentationDeps): Handler => {
  const { edge } = deps
  const operations: Record<OperationOf<'documentation'>, PublicOperation> = {
    getOpenApi: getOpenApi(edge),
    getReference: getReference(edge),
    getReferenceAsset: getReferenceAsset(),
    getConsole: getConsole(deps),
    getConsoleAsset: getConsoleAsset(deps),
  }
  return createHandler('documentation', documentationRoutes, operations, edge)
}
