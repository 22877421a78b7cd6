import type {
  AnswerContract,
  BodyContract,
  OperationContract,
  ParameterContracts,
} from '../../lib/contract/contract.ts'
import { routes } from '../../lib/contract/routes/routes.ts'
import { byName } from '../../lib/core/content-kinds.ts'
import { type GroupPolicy, groupPolicies } from '../../lib/http/group-policy.ts'
import type { Format } from '../../lib/http/negotiate.ts'
import { isRead } from '../../lib/http/request.ts'
import { isOfSite, type Route } from '../../lib/http/router.ts'
import { edgeErrors, errorResponses, mediaType } from './error-responses.ts'
import type { Examples, Recording, Shown } from './examples.ts'
import {
  headerReferences,
  optionalHeaderObjects,
  pathParameters,
  requestParameters,
  variablesOf,
} from './parameters.ts'
import { describeXml, isNode, mapValues, type Node, type Schemas } from './schemas.ts'

interface Context {
  readonly route: Route
  readonly contract: OperationContract
  readonly parameters: ParameterContracts
  readonly tag: string
  readonly examples: Examples
  readonly schemas: Schemas
  readonly responses: Record<string, Node>
}

const formatsOf = (route: Route): readonly Format[] => (route.public ? ['json'] : groupPolicies[route.group].formats)

type Content = Readonly<Record<string, Node>>

/** Bytes, in the words that generators of clients know. */
const bytes = (mediaTypes: readonly string[]): Content =>
  byName(mediaTypes, (type) => ({ schema: { type: 'string', ...(!type.startsWith('text/') && { format: 'binary' }) } }))

const recordingsOf = ({ route, examples }: Context): readonly Recording[] =>
  examples.recordings.filter(({ operation }) => operation === route.operation)

const isBinary = ({ schema }: Node): boolean => isNode(schema) && schema['format'] === 'binary'

/** Adds an example to each media type. Bytes may be shown by a body of any type that has no schema of its own. */
const withExamples = (content: Content, bodies: readonly (Shown | undefined)[]): Node => {
  const documents = Object.keys(content).filter((type) => !isBinary(content[type] ?? {}))
  const exampleIn = (mediaType: string, described: Node): Node => {
    const found =
      bodies.find((body) => body?.mediaType === mediaType) ??
      bodies.find((body) => body && mediaType === '*/*' && !content[body.mediaType]) ??
      bodies.find((body) => body && isBinary(described) && !documents.includes(body.mediaType))
    if (!found) return {}
    return 'value' in found.example ? { example: found.example.value } : { examples: { output: found.example } }
  }
  return mapValues(content, (described, mediaType) => ({ ...described, ...exampleIn(mediaType, described) }))
}

const documentContent = (
  schema: Node,
  xml: AnswerContract['xml'],
  formats: readonly Format[],
  schemas: Schemas,
): Content => {
  const described = xml && formats.includes('xml') ? describeXml(schemas.components, schema, xml) : schema
  return byName(formats.map(mediaType), () => ({ schema: described }))
}

const requestBody = (body: BodyContract, formats: readonly Format[], context: Context): Node => {
  const { schemas } = context
  const schema = { ...schemas.sent(body.schema), ...body.also }
  const content: Content = body.mediaTypes
    ? mapValues(body.mediaTypes, (own) => ({ schema: schemas.sent(own) }))
    : documentContent(schema, body.xml, formats, schemas)
  const shown = recordingsOf(context).map(({ request }) => request)
  return {
    ...(body.description && { description: body.description }),
    required: !body.optional,
    content: withExamples(content, shown),
  }
}

/** Variables that the request already had go into the linked path too. */
const linksOf = ({ links = {} }: AnswerContract, { path }: Route): Node =>
  mapValues(links, (given, operation) => {
    const target = routes.find((route) => route.operation === operation)
    const own = variablesOf(path)
    const placeOf = (name: string) => given[name] ?? (own.includes(name) ? `$request.path.${name}` : undefined)
    return { operationId: operation, parameters: byName(variablesOf(target?.path ?? ''), placeOf) }
  })

const contentOf = (status: number, { schema, xml, mediaTypes = [] }: AnswerContract, context: Context): Node => {
  const { schemas, route } = context
  const content = {
    ...bytes(mediaTypes),
    ...(schema && documentContent(schemas.answered(schema), xml, formatsOf(route), schemas)),
  }
  const answered = recordingsOf(context).filter((recording) => recording.status === status)
  const shown = answered.map(({ answer }) => answer)
  return withExamples(content, shown)
}

const success = (status: number, answer: AnswerContract, context: Context): Node => {
  const { headers = [], optionalHeaders = [], description } = answer
  const content = contentOf(status, answer, context)
  const links = linksOf(answer, context.route)
  return {
    description,
    headers: { ...headerReferences(headers), ...optionalHeaderObjects(optionalHeaders) },
    ...(Object.keys(content).length > 0 && { content }),
    ...(Object.keys(links).length > 0 && { links }),
  }
}

const unchanged: Node = {
  description: 'The state that `If-None-Match` names is still the present one.',
  headers: headerReferences(['ETag']),
}

const moved = (route: Route, policy: GroupPolicy): Record<string, Node> => {
  if (!isOfSite(route)) return {}
  const movesForGood = !route.keepsMethod && (policy.alwaysMovedPermanently || isRead(route.method))
  const description = 'The site lives in another data centre: repeat the request there.'
  const headers = headerReferences(['Location', 'Cache-Control'])
  return { [movesForGood ? 301 : 308]: { description, headers } }
}

const security = (route: Route, policy: GroupPolicy): Node[] =>
  route.public ? [] : [{ token: [] }, { bearer: [] }, ...(policy.tokenInQuery ? [{ queryToken: [] }] : [])]

export const operationObject = (context: Context): Node => {
  const { route, contract, parameters, tag, schemas } = context
  const policy = groupPolicies[route.group]
  const formats = formatsOf(route)
  const { body, answers, errors = [] } = contract
  const tagged =
    isRead(route.method) &&
    Object.values(answers).some(({ headers = [], optionalHeaders = [] }) =>
      [...headers, ...optionalHeaders].includes('ETag'),
    )
  const conditions = { change: errors.includes('conditionFailed'), read: tagged }
  const names = [...edgeErrors(route, policy, body !== undefined && !body.mediaTypes), ...errors]
  return {
    operationId: route.operation,
    summary: contract.summary,
    ...(contract.description && { description: contract.description }),
    tags: [tag],
    security: security(route, policy),
    parameters: [
      ...pathParameters(route.path, parameters, contract.pathExamples, schemas),
      ...requestParameters(contract, conditions, schemas),
    ],
    ...(body && { requestBody: requestBody(body, formats, context) }),
    responses: {
      ...(tagged && { 304: unchanged }),
      ...mapValues(answers, (answer, status) => success(Number(status), answer, context)),
      ...moved(route, policy),
      431: { $ref: '#/components/responses/HeadersTooLarge' },
      ...errorResponses(names, { ...context, formats }),
    },
  }
}
