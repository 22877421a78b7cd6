import type {
  HeaderName,
  OperationContract,
  ParameterContract,
  ParameterContracts,
} from '../../lib/contract/contract.ts'
import { byName } from '../../lib/core/content-kinds.ts'
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

export const variablesOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => name)

/** Examples of the operation go before those of its group. */
export const pathParameters = (
  path: string,
  contracts: ParameterContracts,
  examples: OperationContract['pathExamples'],
  schemas: Schemas,
): Node[] =>
  variablesOf(path).map((name) => {
    const contract = contracts[name]
    if (!contract) throw new Error(`No contract describes {${name}} in ${path}`)
    return {
      ...parameter('path', name, { ...contract, example: examples?.[name] ?? contract.example }, schemas),
      // OpenAPI has no words for a variable that holds slashes.
      ...(path.endsWith(`{${name}+}`) && { 'x-many-segments': true }),
    }
  })

const text = { type: 'string' }
const count = { type: 'integer' }

const condition = (name: string, description: string): Node => ({ name, in: 'header', description, schema: text })

const ifMatch = condition('If-Match', 'ETags, or `*`: the request goes on only if the present state is one of them.')
const ifNoneMatch = condition('If-None-Match', 'An ETag: the answer is 304 if it is still the present state.')

export const requestParameters = (
  { query = {}, headers = {} }: Pick<OperationContract, 'query' | 'headers'>,
  conditions: { readonly change: boolean; readonly read: boolean },
  schemas: Schemas,
): Node[] => [
  ...parametersIn('query', query, schemas),
  ...parametersIn('header', headers, schemas),
  ...(conditions.change ? [ifMatch] : []),
  ...(conditions.read ? [ifNoneMatch] : []),
]

type AnswerHeader = HeaderName | 'X-Request-Id' | 'Retry-After' | 'WWW-Authenticate' | 'Allow'

const answerHeader = (description: string, schema: Node = text): Node => ({ description, required: true, schema })

const answerHeaders: Readonly<Record<AnswerHeader, Node>> = {
  'X-Request-Id': answerHeader('The id of the request. Quote it when you report a fault.'),
  Location: answerHeader('The address of what the request created or asked for.'),
  ETag: answerHeader('The name of the present state, for If-Match and If-None-Match.'),
  'Last-Modified': answerHeader('The time when the file was stored, as an HTTP date.'),
  'Accept-Ranges': answerHeader('Requests may ask for parts of the file.', { const: 'bytes' }),
  'Content-Range': answerHeader('The part of the file that the answer holds.'),
  'X-Content-Length': answerHeader(
    'On HEAD: the number of bytes that GET would send. API Gateway does not pass on the Content-Length of a HEAD.',
    count,
  ),
  'Cache-Control': answerHeader('Says who may keep the answer, and for how long.'),
  'Upload-Offset': answerHeader('The number of bytes of the upload that are stored.', count),
  'Upload-Length': answerHeader('The number of bytes of the whole upload.', count),
  'Upload-Defer-Length': answerHeader('The length of the upload is not known yet.', { const: '1' }),
  'Upload-Metadata': answerHeader('The metadata that the upload was begun with.'),
  'Upload-Expires': answerHeader('The time when the upload ends unless it goes on, as an HTTP date.'),
  'Tus-Resumable': answerHeader('The version of the upload protocol.', { const: '1.0.0' }),
  'Retry-After': answerHeader('Seconds to wait before the request is repeated.', count),
  'WWW-Authenticate': answerHeader('The way to send a token.', { const: 'Bearer' }),
  Allow: answerHeader('The methods that are allowed here.'),
}

const componentName = (header: string) => header.replaceAll('-', '')

export const headerComponents = Object.fromEntries(
  Object.entries(answerHeaders).map(([name, header]) => [componentName(name), header]),
)

/** The headers of an answer: the id of the request, and those named. */
export const headerReferences = (names: readonly string[]): Node =>
  byName(['X-Request-Id', ...names], (name) => ({ $ref: `#/components/headers/${componentName(name)}` }))

export const optionalHeaderObjects = (names: readonly HeaderName[]): Node =>
  byName(names, (name) => ({ ...answerHeaders[name], required: false }))
