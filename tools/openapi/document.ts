import { writtenAddress } from '../../functions/documentation/reference.ts'
import { where } from '../../lib/contract/categories/contract-where.ts'
import { type AnswerContract, type BodyContract, type ParameterContracts, text } from '../../lib/contract/contract.ts'
import { errors } from '../../lib/core/errors.ts'
import { byName } from '../../lib/core/names.ts'
import { isRead } from '../../lib/http/request.ts'
import { redirectStatus } from '../../lib/http/resolve-site.ts'
import packageFile from '../../package.json' with { type: 'json' }
import type { Recording, Shown } from './examples.ts'
import { type Operation, operations, variablesOf } from './operations.ts'
import { type Context, errorResponses, headerComponents, headers, headersTooLarge, typeOf } from './responses.ts'
import { createSchemas, type Node } from './schemas.ts'

const conditions: Readonly<Record<'change' | 'read', ParameterContracts>> = {
  change: { 'If-Match': text('ETags, or `*`. The change is made only if a tag names the current state.', '"an-etag"') },
  read: { 'If-None-Match': text('An ETag. The answer is 304 if this tag still names the current state.', '"an-etag"') },
}

const parametersOf = ({ route, contract, variables, schemas }: Context, isTagged: boolean): readonly Node[] => {
  const parameters = {
    path: variables,
    query: contract.query ?? {},
    header: {
      ...contract.headers,
      ...(contract.errors?.includes('conditionFailed') && conditions.change),
      ...(isTagged && conditions.read),
    },
  }
  return Object.entries<ParameterContracts>(parameters).flatMap(([place, contracts]) =>
    Object.entries(contracts).map(([name, { description, example, required, sentByDefault, schema }]) => ({
      name,
      in: place,
      description,
      ...((place === 'path' || required) && { required: true }),
      // A parameter whose example is empty is sent without a value, because only its presence counts.
      ...(place === 'query' && example === '' && { allowEmptyValue: true }),
      ...(sentByDefault && { 'x-sent-by-default': true }),
      schema: schemas.answered(schema),
      example,
      // OpenAPI cannot describe a variable that contains slashes.
      ...(route.path.endsWith(`{${name}+}`) && { 'x-many-segments': true }),
    })),
  )
}

const mapValues = <Value, Result>(
  values: { readonly [name: string]: Value },
  map: (value: Value, name: string) => Result,
): { readonly [name: string]: Result } =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]))

type Content = Readonly<Record<string, { readonly schema: Node }>>

const isBinary = (described: Content[string] | undefined): boolean => described?.schema['format'] === 'binary'

// Adds an example to each media type. A body of any type that has no schema of its own can show bytes.
const withExamples = (content: Content, { shownByAddress }: Context, bodies: readonly Shown[]): Node =>
  mapValues(content, (described, type) => {
    const canShow = ({ mediaType }: Shown) =>
      content[mediaType] ? isBinary(described) && isBinary(content[mediaType]) : type === '*/*' || isBinary(described)
    const shown = bodies.find(({ mediaType }) => mediaType === type) ?? bodies.find(canShow)
    if (!shown) return described
    if (shownByAddress) return { ...described, examples: { output: { externalValue: shown.value } } }
    return { ...described, example: shown.value }
  })

const recordingsOf = ({ route, recordings }: Context): readonly Recording[] =>
  recordings.filter(({ operation }) => operation === route.operation)

const requestBody = ({ description, schema, xml, mediaTypes, optional }: BodyContract, context: Context): Node => {
  const { schemas, formats } = context
  const content: Content = mediaTypes
    ? mapValues(mediaTypes, (own) => ({ schema: schemas.sent(own) }))
    : byName(formats.map(typeOf), () => ({ schema: schemas.sent(schema, xml) }))
  const requests = recordingsOf(context).flatMap(({ request }) => request)
  return { ...(description && { description }), required: !optional, content: withExamples(content, context, requests) }
}

// Describes bytes in the form that client generators know.
const bytes = (type: string) => ({ schema: { type: 'string', ...(!type.startsWith('text/') && { format: 'binary' }) } })

// The operations that can follow. If the linked path has the same variable as this request, the link also fills in the
// value of this variable.
const linksOf = ({ links = {} }: AnswerContract, { variables }: Operation): Node =>
  mapValues(links, (given, name) => {
    const target = operations.find(({ route }) => route.operation === name)
    const placeOf = (variable: string) => given[variable] ?? (variables[variable] && `$request.path.${variable}`)
    return { operationId: name, parameters: byName(variablesOf(target?.route.path ?? ''), placeOf) }
  })

const success = (status: string, answer: AnswerContract, context: Context): Node => {
  const { description, schema, xml, mediaTypes = [], example } = answer
  const content: Content = {
    ...byName(mediaTypes, bytes),
    ...(schema && byName(context.formats.map(typeOf), () => ({ schema: context.schemas.answered(schema, xml) }))),
  }
  const answered = recordingsOf(context).filter((recording) => String(recording.status) === status)
  const answers = [
    ...answered.flatMap((recording) => recording.answer),
    ...(example === undefined ? [] : [{ mediaType: '', value: example }]),
  ]
  const links = linksOf(answer, context)
  return {
    description,
    headers: headers(answer.headers ?? [], answer.optionalHeaders),
    ...(Object.keys(content).length > 0 && { content: withExamples(content, context, answers) }),
    ...(Object.keys(links).length > 0 && { links }),
  }
}

const unchanged: Node = {
  description: 'Nothing has changed: `If-None-Match` names the current state.',
  headers: headers(['ETag']),
}

const moved: Node = {
  description: 'The site is in another data centre. Repeat the request there.',
  headers: headers(['Location', 'Cache-Control']),
}

const security = ({ route, policy }: Operation): Node[] =>
  route.public ? [] : [{ bare: [] }, { bearer: [] }, ...(policy.tokenInQuery ? [{ queryToken: [] }] : [])]

const describeOperation = (context: Context): Node => {
  const { route, contract, tag } = context
  const answered = Object.values(contract.answers).flatMap((one) => [one.headers ?? [], one.optionalHeaders ?? []])
  const isTagged = isRead(route.method) && answered.flat().includes('ETag')
  const needed = route.right && `The token needs the right \`${route.right}\`.`
  const description = [contract.description, needed].filter((text) => text !== undefined).join(' ')
  return {
    operationId: route.operation,
    summary: contract.summary,
    ...(description !== '' && { description }),
    tags: [tag.name],
    security: security(context),
    parameters: parametersOf(context, isTagged),
    ...(contract.body && { requestBody: requestBody(contract.body, context) }),
    responses: {
      ...(isTagged && { 304: unchanged }),
      ...mapValues(contract.answers, (answer, status) => success(status, answer, context)),
      ...(route.right && { [redirectStatus(route)]: moved }),
      431: { $ref: '#/components/responses/HeadersTooLarge' },
      ...errorResponses(context),
    },
  }
}

const introduction = `Manages the content of web sites: the system fields of web forms, the news items and blogs
of categories, and the files in the storage.

- \`{site}\` in a path is the id of a site, or \`current\`: the one site that the token covers.
- Every \`GET\` operation also answers \`HEAD\`, with the same headers and no body.
- A slash at the end of a path is ignored.
- Every answer to a request of tus, the protocol of resumable uploads (https://tus.io), has \`Tus-Resumable\`.
- An unknown path is answered with 404 and the code ${errors.routeUnknown.code}. A method that the path does not support is answered with 405
  and the code ${errors.methodNotAllowed.code}, with the header \`Allow\`. Both have the error body below.
- \`OPTIONS\` on every path is the preflight request of a browser.
- If a query parameter is sent twice, the service uses the first value. Unknown parameters are ignored.
- Every answer has \`X-Request-Id\`. Web pages of any origin may call the service and read its answers.
- A site belongs to one data centre. The other data centres answer with a redirect to that data centre.`

const securitySchemes = {
  bare: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'The access token without a prefix.' },
  bearer: { type: 'http', scheme: 'bearer', description: 'The access token after `Bearer`.' },
  queryToken: {
    type: 'apiKey',
    in: 'query',
    name: 'access_token',
    description:
      'A token in the query works only for files. It is ignored if the request has an `Authorization` header.',
  },
}

export const createDocument = (recordings: readonly Recording[]): Node => {
  const schemas = createSchemas()
  const responses: Record<string, Node> = { HeadersTooLarge: headersTooLarge(recordings, schemas) }
  const byPath = Map.groupBy(operations, ({ route }) => route.path.replaceAll('+}', '}'))
  const paths = mapValues(Object.fromEntries(byPath), (sharing) =>
    Object.fromEntries(
      sharing.map((operation) => [
        operation.route.method.toLowerCase(),
        describeOperation({ ...operation, recordings, schemas, responses }),
      ]),
    ),
  )
  // A parameter refers to this component as the schema of its content.
  schemas.sent(where)
  const text = JSON.stringify([paths, responses])
  return {
    openapi: '3.1.0',
    info: {
      title: 'site-admin',
      version: packageFile.version,
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: writtenAddress, description: 'The data centre that answers.' }],
    tags: [...new Set(operations.map(({ tag }) => tag))],
    paths,
    components: { schemas: schemas.components, responses, headers: headerComponents(text), securitySchemes },
  }
}
