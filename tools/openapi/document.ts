import { where } from '../../lib/contract/categories/contract-where.ts'
import { answerHeaders } from '../../lib/contract/contract.ts'
import { errors } from '../../lib/core/errors.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { exampleBaseUrl, type Recording } from './examples.ts'
import { describeOperation } from './operation-object.ts'
import { operations } from './operations.ts'
import { headersTooLarge, nameOfHeader } from './responses.ts'
import { createSchemas, mapValues, type Node } from './schemas.ts'

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
        describeOperation({ operation, recordings, schemas, responses }),
      ]),
    ),
  )
  // A parameter refers to this component as the schema of its content.
  schemas.sent(where)
  const text = JSON.stringify([paths, responses])
  const headers = Object.entries(answerHeaders).map(([name, header]) => [nameOfHeader(name), header] as const)
  return {
    openapi: '3.1.0',
    info: {
      title: 'site-admin',
      version: packageFile.version,
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: exampleBaseUrl, description: 'The data centre that answers.' }],
    tags: [...new Set(operations.map(({ tag }) => tag))],
    paths,
    components: {
      schemas: schemas.components,
      responses,
      headers: Object.fromEntries(headers.filter(([name]) => text.includes(`"#/components/headers/${name}"`))),
      securitySchemes,
    },
  }
}
