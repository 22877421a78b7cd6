import type { AnswerDoc, BodyDoc, OperationDoc, ParameterDocs } from '../functions/operation-doc.ts'
import { routes } from '../functions/routes.ts'
import { type GroupPolicy, groupPolicies } from '../lib/http/group-policy.ts'
import type { Format } from '../lib/http/negotiate.ts'
import type { Route } from '../lib/http/router.ts'
import { edgeErrors } from './edge-errors.ts'
import type { Examples, Recording } from './examples.ts'
import { headerReferences, optionalHeaderObjects } from './headers.ts'
import type { Node } from './json.ts'
import { pathParameters, requestParameters, variablesOf } from './parameters.ts'
import { errorResponses, mediaType } from './responses.ts'
import type { Schemas } from './schemas.ts'
import { withExamples } from './shown.ts'
import { describeXml } from './xml.ts'

interface Context {
  readonly route: Route & { readonly number?: number }
  readonly doc: OperationDoc
  readonly parameters: ParameterDocs
  readonly tag: string
  readonly examples: Examples
  readonly schemas: Schemas
  /** The components that shared responses are put into. */
  readonly responses: Record<string, Node>
}

const isRead = ({ method }: Route) => method === 'GET'
const formatsOf = (route: Route): readonly Format[] => (route.public ? ['json'] : groupPolicies[route.group].formats)

type Content = Readonly<Record<string, Node>>

const bytes = (mediaTypes: readonly string[]): Content => Object.fromEntries(mediaTypes.map((type) => [type, {}]))

/** What was recorded of the operation. */
const recordingsOf = ({ route, examples }: Context): readonly Recording[] =>
  examples.successes.filter(({ operation }) => operation === route.operation)

const documentContent = (
  schema: Node,
  xml: AnswerDoc['xml'],
  formats: readonly Format[],
  schemas: Schemas,
): Content => {
  const described = xml && formats.includes('xml') ? describeXml(schemas.components, schema, xml) : schema
  return Object.fromEntries(formats.map((format) => [mediaType(format), { schema: described }]))
}

const requestBody = (body: BodyDoc, formats: readonly Format[], context: Context): Node => {
  const { schemas } = context
  const schema = { ...schemas.sent(body.schema), ...body.also }
  const typed = Object.entries(body.mediaTypes ?? {}).map(([type, own]) => [type, { schema: schemas.sent(own) }])
  const content: Content = body.mediaTypes
    ? Object.fromEntries(typed)
    : documentContent(schema, body.xml, formats, schemas)
  return {
    ...(body.description && { description: body.description }),
    required: !body.optional,
    content: withExamples(
      content,
      recordingsOf(context).map(({ request }) => request),
    ),
  }
}

/** Where to go on from an answer: what the next path needs and this one has is taken from this request. */
const linksOf = ({ links = {} }: AnswerDoc, { path }: Route): Node =>
  Object.fromEntries(
    Object.entries(links).map(([operation, given]) => {
      const target = routes.find((route) => route.operation === operation)
      const own = variablesOf(path)
      const parameters = variablesOf(target?.path ?? '').map((name) => [
        name,
        given[name] ?? (own.includes(name) ? `$request.path.${name}` : undefined),
      ])
      return [operation, { operationId: operation, parameters: Object.fromEntries(parameters) }]
    }),
  )

const contentOf = (status: number, { schema, xml, mediaTypes = [] }: AnswerDoc, context: Context): Node => {
  const { schemas, route } = context
  const content = {
    ...bytes(mediaTypes),
    ...(schema && documentContent(schemas.answered(schema), xml, formatsOf(route), schemas)),
  }
  const answered = recordingsOf(context).filter((recording) => recording.status === status)
  return withExamples(
    content,
    answered.map(({ answer }) => answer),
  )
}

const success = (status: number, answer: AnswerDoc, context: Context): Node => {
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

const unchanged = (): Node => ({
  description: 'What `If-None-Match` names is still the present state.',
  headers: headerReferences(['ETag']),
})

/** A site that lives in another data centre is answered from there. */
const moved = (route: Route, policy: GroupPolicy): Record<string, Node> => {
  if (route.public) return {}
  const status = policy.alwaysMovedPermanently || isRead(route) ? '301' : '308'
  return {
    [status]: {
      description: 'The site lives in another data centre: repeat the request there.',
      headers: headerReferences(['Location', 'Cache-Control']),
    },
  }
}

const security = (route: Route, policy: GroupPolicy): Node[] => {
  if (route.public) return []
  return [{ token: [] }, { bearer: [] }, ...(policy.tokenInQuery ? [{ queryToken: [] }] : [])]
}

/** The document's description of one operation. */
export const operationObject = (context: Context): Node => {
  const { route, doc, parameters, tag, schemas } = context
  const policy = groupPolicies[route.group]
  const formats = formatsOf(route)
  const { body, answers, errors = [] } = doc
  const tagged =
    isRead(route) &&
    Object.values(answers).some(({ headers = [], optionalHeaders = [] }) =>
      [...headers, ...optionalHeaders].includes('ETag'),
    )
  const conditions = { change: errors.includes('conditionFailed'), read: tagged }
  const names = [...edgeErrors(route, policy, body !== undefined && !body.mediaTypes), ...errors]
  return {
    operationId: route.operation,
    summary: doc.summary,
    ...(doc.description && { description: doc.description }),
    tags: [tag],
    security: security(route, policy),
    parameters: [...pathParameters(route.path, parameters, schemas), ...requestParameters(doc, conditions, schemas)],
    ...(body && { requestBody: requestBody(body, formats, context) }),
    responses: {
      ...(tagged && { 304: unchanged() }),
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [status, success(Number(status), answer, context)]),
      ),
      ...moved(route, policy),
      431: { $ref: '#/components/responses/HeadersTooLarge' },
      ...errorResponses(names, { ...context, formats }),
    },
  }
}
