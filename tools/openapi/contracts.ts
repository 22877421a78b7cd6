import { categoriesContract } from '../../lib/contract/categories/contract.ts'
import type { GroupContract, OperationContract } from '../../lib/contract/contract.ts'
import { documentationContract } from '../../lib/contract/documentation/contract.ts'
import { fieldsContract } from '../../lib/contract/fields/contract.ts'
import type { routes } from '../../lib/contract/routes/routes.ts'
import { storageContract } from '../../lib/contract/storage/contract.ts'

export const contracts = {
  categories: categoriesContract,
  documentation: documentationContract,
  fields: fieldsContract,
  storage: storageContract,
} satisfies {
  readonly [Name in (typeof routes)[number]['group']]: GroupContract<Name>
}

export const describedBy = ({ group, operation }: (typeof routes)[number]) => {
  const { parameters, tag, operations }: GroupContract<never> = contracts[group]
  const contract = Object.entries<OperationContract>(operations).find(([name]) => name === operation)?.[1]
  if (!contract) throw new Error(`Nothing describes ${operation}`)
  return { contract, parameters, tag: contract.tag ?? tag }
}
