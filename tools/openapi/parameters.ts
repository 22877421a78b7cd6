import type { OperationContract, ParameterContract, ParameterContracts } from '../../lib/contract/contract.ts'
import type { Node, Schemas } from './schemas.ts'

type Place = 'path' | 'query' | 'header'

const parameter = (place: Place, name: string, contract: ParameterContract, schemas: Schemas): Node => ({
  name,
  in: place,
  description: contract.description,
  ...((place === 'path' || contract.required) && { required: true }),
  // A switch whose example is empty is sent without a value: its presence counts.
  ...(place === 'query' && contract.example === '' && { allowEmptyValue: true }),
  ...(contract.sentAtFirst && { 'x-sent-at-first': true }),
  schema: schemas.sent(contract.schema),
  example: contract.example,
})

const parametersIn = (place: Place, contracts: ParameterContracts, schemas: Schemas): Node[] =>
  Object.entries(contracts).map(([name, contract]) => parameter(place, name, contract, schemas))

/** The names of a path's variables. */
export const variablesOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => name)

/** The variables of a path, each with the example of the operation or else of its group. */
export const pathParameters = (
  path: string,
  contracts: ParameterContracts,
  examples: OperationContract['pathExamples'],
  schemas: Schemas,
): Node[] =>
  variablesOf(path).map((name) => {
    const contract = contracts[name]
    if (!contract) throw new Error(`Nothing says what {${name}} is in ${path}`)
    return {
      ...parameter('path', name, { ...contract, example: examples?.[name] ?? contract.example }, schemas),
      // OpenAPI has no words for a variable that holds slashes.
      ...(path.endsWith(`{${name}+}`) && { 'x-many-segments': true }),
    }
  })

const ifMatch = {
  name: 'If-Match',
  in: 'header',
  description: 'ETags, or `*`: goes on only while what is there is in a state that they name.',
  schema: { type: 'string' },
}

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  description: 'An ETag: answers 304 when what it names is still the present state.',
  schema: { type: 'string' },
}

interface Conditions {
  readonly change: boolean
  readonly read: boolean
}

export const requestParameters = (
  { query = {}, headers = {} }: { readonly query?: ParameterContracts; readonly headers?: ParameterContracts },
  conditions: Conditions,
  schemas: Schemas,
): Node[] => [
  ...parametersIn('query', query, schemas),
  ...parametersIn('header', headers, schemas),
  ...(conditions.change ? [ifMatch] : []),
  ...(conditions.read ? [ifNoneMatch] : []),
]
