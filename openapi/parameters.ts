import type { ParameterDoc, ParameterDocs } from '../functions/operation-doc.ts'
import type { Node } from './json.ts'
import type { Schemas } from './schemas.ts'

type Place = 'path' | 'query' | 'header'

const parameter = (place: Place, name: string, doc: ParameterDoc, schemas: Schemas): Node => ({
  name,
  in: place,
  description: doc.description,
  ...((place === 'path' || doc.required) && { required: true }),
  ...(doc.json
    ? {
        content: { 'application/json': { schema: schemas.sent(doc.schema), example: JSON.parse(String(doc.example)) } },
      }
    : { schema: schemas.sent(doc.schema), example: doc.example }),
})

const parametersIn = (place: Place, docs: ParameterDocs, schemas: Schemas): Node[] =>
  Object.entries(docs).map(([name, doc]) => parameter(place, name, doc, schemas))

/** The names of a path's variables. */
export const variablesOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => name)

export const pathParameters = (path: string, docs: ParameterDocs, schemas: Schemas): Node[] =>
  variablesOf(path).map((name) => {
    const doc = docs[name]
    if (!doc) throw new Error(`Nothing says what {${name}} is in ${path}`)
    return {
      ...parameter('path', name, doc, schemas),
      // OpenAPI has no words for a variable that holds slashes.
      ...(path.endsWith(`{${name}+}`) && { 'x-many-segments': true }),
    }
  })

const ifMatch = {
  name: 'If-Match',
  in: 'header',
  description: 'An ETag: changes only what is still in the state that it names.',
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
  { query = {}, headers = {} }: { readonly query?: ParameterDocs; readonly headers?: ParameterDocs },
  conditions: Conditions,
  schemas: Schemas,
): Node[] => [
  ...parametersIn('query', query, schemas),
  ...parametersIn('header', headers, schemas),
  ...(conditions.change ? [ifMatch] : []),
  ...(conditions.read ? [ifNoneMatch] : []),
]
