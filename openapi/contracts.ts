import { categoriesContract } from '../functions/categories/contract.ts'
import type { GroupContract, OperationContract, ParameterContracts } from '../functions/contract.ts'
import { documentationContract } from '../functions/documentation/contract.ts'
import { fieldsContract } from '../functions/fields/contract.ts'
import type { routes } from '../functions/routes.ts'
import { storageContract } from '../functions/storage/contract.ts'

/** The contract of each group. */
export const contracts = {
  categories: categoriesContract,
  documentation: documentationContract,
  fields: fieldsContract,
  storage: storageContract,
} satisfies {
  readonly [Name in (typeof routes)[number]['group']]: GroupContract<Name>
}

interface Description {
  readonly contract: OperationContract
  readonly parameters: ParameterContracts
  readonly tag: { readonly name: string; readonly description: string }
}

/** What is said of a route beside its operation. */
export const describedBy = ({ group, operation }: (typeof routes)[number]): Description => {
  const { parameters, tag, operations } = contracts[group]
  const contract = Object.entries<OperationContract>(operations).find(([name]) => name === operation)?.[1]
  if (!contract) throw new Error(`Nothing describes ${operation}`)
  return { contract, parameters, tag: contract.tag ?? tag }
}
