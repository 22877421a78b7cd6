import { routes } from '../../lib/contract/routes/routes.ts'
import { errors } from '../../lib/core/errors.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { contracts, describedBy } from './contracts.ts'
import { headersTooLarge } from './error-responses.ts'
import { type Examples, exampleBaseUrl } from './examples.ts'
import { operationObject } from './operation-object.ts'
import { headerComponents } from './parameters.ts'
import { createSchemas, mapValues, type Node, type Schemas } from './schemas.ts'

const introduction = `Manages the content of web sites: the system fields of web forms, the news items and blogs
of categories, and the files in the storage.

- \`{site}\` in a path is the id of a site, or \`current\`: the one site that the token covers.
- Every \`GET\` operation also answers \`HEAD\`, with the same headers and no body.
- A slash at the end of a path is ignored.
- Every answer to a request of tus, the protocol of resumable uploads (https://tus.io), has \`Tus-Resumable\`.
- An unknown path is 404 with the code ${errors.routeUnknown.code}. A method that the path does not have is 405
  with the code ${errors.methodNotAllowed.code} and \`Allow\`. Both have the error body below.
- \`OPTIONS\` on every path answers the preflight request of a browser.
- If a query parameter is sent twice, the first value counts. Unknown parameters are ignored.
- Every answer has \`X-Request-Id\`. Pages of any origin may read it.
- A site lives in one data centre. The others answer with a redirect to it.`

const securitySchemes = {
  token: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'The access token, bare.' },
  bearer: { type: 'http', scheme: 'bearer', description: 'The access token behind `Bearer`.' },
  queryToken: { type: 'apiKey', in: 'query', name: 'access_token', description: 'For storage; the header wins.' },
}

/** Operations without a token belong to the service itself, whichever function answers them. */
const tagOf = (route: (typeof routes)[number]) =>
  'public' in route && route.public ? contracts.documentation.tag : describedBy(route).tag

const pathsOf = (examples: Examples, schemas: Schemas, responses: Record<string, Node>): Node => {
  const describe = (route: (typeof routes)[number]) =>
    operationObject({ route, ...describedBy(route), tag: tagOf(route).name, examples, schemas, responses })
  const byPath = Map.groupBy(routes, ({ path }) => path.replaceAll('+}', '}'))
  return mapValues(Object.fromEntries(byPath), (sharing) =>
    Object.fromEntries(sharing.map((route) => [route.method.toLowerCase(), describe(route)])),
  )
}

const usedIn = (tree: unknown) => {
  const text = JSON.stringify(tree)
  return (components: Node, reference: (name: string) => string): Node =>
    Object.fromEntries(Object.entries(components).filter(([name]) => text.includes(reference(name))))
}

/** The document, from the route table, the contracts of the groups and the recorded examples. */
export const createDocument = (examples: Examples): Node => {
  const schemas = createSchemas()
  const responses: Record<string, Node> = { HeadersTooLarge: headersTooLarge(examples, schemas) }
  const paths = pathsOf(examples, schemas, responses)
  const used = usedIn([paths, responses])
  return {
    openapi: '3.1.0',
    info: {
      title: 'site-admin',
      version: packageFile.version,
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: exampleBaseUrl, description: 'The data centre that answers.' }],
    tags: [...new Set(routes.map(tagOf))],
    paths,
    components: {
      schemas: schemas.components,
      responses,
      headers: used(headerComponents, (name) => `"#/components/headers/${name}"`),
      securitySchemes: used(securitySchemes, (name) => `{"${name}":[]}`),
    },
  }
}
