import { docs } from '../functions/docs.ts'
import type { OperationDoc, ParameterDocs } from '../functions/operation-doc.ts'
import type { routes } from '../functions/routes.ts'

interface Description {
  readonly doc: OperationDoc
  readonly parameters: ParameterDocs
  readonly tag: { readonly name: string; readonly description: string }
}

/** What is said of a route beside its operation. */
export const describedBy = ({ group, operation }: (typeof routes)[number]): Description => {
  const { parameters, tag, operations } = docs[group]
  const doc = Object.entries<OperationDoc>(operations).find(([name]) => name === operation)?.[1]
  if (!doc) throw new Error(`Nothing describes ${operation}`)
  return { doc, parameters, tag }
}
