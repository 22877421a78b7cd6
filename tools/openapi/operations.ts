import { accessContract } from '../../lib/contract/access/contract.ts'
import { categoriesContract } from '../../lib/contract/categories/contract.ts'
import { type GroupContract, type OperationContract, siteParameter } from '../../lib/contract/contract.ts'
import { documentationContract } from '../../lib/contract/documentation/contract.ts'
import { fieldsContract } from '../../lib/contract/fields/contract.ts'
import { routes } from '../../lib/contract/routes/routes.ts'
import { storageContract } from '../../lib/contract/storage/contract.ts'
import { webhooksContract } from '../../lib/contract/webhooks/contract.ts'
import { byName } from '../../lib/core/names.ts'
import { formatsOf } from '../../lib/http/admission.ts'
import { groupPolicies, type Route } from '../../lib/http/router.ts'

const contracts: { readonly [Name in (typeof routes)[number]['group']]: GroupContract<Name> } = {
  access: accessContract,
  categories: categoriesContract,
  documentation: documentationContract,
  fields: fieldsContract,
  storage: storageContract,
  webhooks: webhooksContract,
}

export const variablesOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => name)

const describe = (route: Route) => {
  const { parameters, tag, operations, shownByAddress }: GroupContract<never> = contracts[route.group]
  const contract = Object.entries<OperationContract>(operations).find(([name]) => name === route.operation)?.[1]
  if (!contract) throw new Error(`No contract describes ${route.operation}`)
  const policy = groupPolicies[route.group]
  return {
    route,
    policy,
    formats: formatsOf(route, policy),
    contract,
    variables: byName(variablesOf(route.path), (name) => {
      const variable = parameters[name] ?? (name === 'site' ? siteParameter : undefined)
      if (!variable) throw new Error(`No contract describes {${name}} in ${route.path}`)
      return { ...variable, example: contract.pathExamples?.[name] ?? variable.example }
    }),
    tag: contract.tag ?? tag,
    shownByAddress,
  }
}

export const operations = routes.map(describe)
export type Operation = ReturnType<typeof describe>
