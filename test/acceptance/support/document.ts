import type { Answer } from '../../support/answer.ts'
import { isAddedOnTheWay } from './headers-on-the-way.ts'
import { createValueChecks } from './value-checks.ts'
import type { Schema } from './xml-by-schema.ts'

interface Reference {
  readonly $ref?: string
}

interface Header extends Reference {
  readonly required?: boolean
  readonly schema?: Schema
}

interface Response extends Reference {
  /** The error codes that the document allows for this answer. All answers share the schema of the error body. */
  readonly 'x-codes'?: readonly number[]
  readonly headers?: Readonly<Record<string, Header>>
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly 'x-many-segments'?: boolean }[]
  readonly responses: Readonly<Record<string, Response>>
}

/** The members of an OpenAPI document that the checks read. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

type CheckedAnswer = Pick<Answer, 'status' | 'headers' | 'text'>

/** Headers that the service may add to any answer. The document does not repeat them for each operation. */
const everyAnswer = new Set([
  ...['access-control-allow-origin', 'access-control-expose-headers', 'cache-control', 'content-length'],
  ...['content-security-policy', 'content-type'],
  // These headers are only on HTML pages.
  'cross-origin-opener-policy',
  'permissions-policy',
  'referrer-policy',
  'strict-transport-security',
  // Only answers to tus requests have these headers. Tus-Version is only on the answer to a request of another version.
  'tus-resumable',
  'tus-version',
  'vary',
  'x-content-type-options',
  'x-request-id',
])

/** Throws an Error if the body is an error, in JSON or XML, with a code that the document lacks for this status. */
const checkCode = (codes: readonly number[], text: string) => {
  const code = Number(/"code":(\d+)|<code>(\d+)/.exec(text)?.slice(1).find(Boolean))
  if (!codes.includes(code))
    throw new Error(`The code ${code} is not documented. Documented codes: ${codes.join(', ')}`)
}

/** The paths that match a template. A variable can contain slashes if the document allows that. */
const expressionOf = (template: string, operations: Readonly<Record<string, Operation>>): RegExp => {
  const spanning = Object.values(operations)
    .flatMap(({ parameters = [] }) => parameters)
    .flatMap(({ name, 'x-many-segments': many }) => (many ? [name] : []))
  const escaped = template.replaceAll('.', '\\.')
  const pattern = escaped.replaceAll(/\{(\w+)\}/g, (_, name: string) => (spanning.includes(name) ? '.+' : '[^/]+'))
  // Slashes at the end of a path are ignored.
  return new RegExp(`^${pattern}(?:/|%2F)*$`, 's')
}

const variables = (template: string) => template.split('{').length

/** Creates a function that checks answers against a document. It throws an Error that names the difference. */
export const createCheck = (document: OpenApi) => {
  const { checkValue, checkText } = createValueChecks(document.components.schemas)

  const resolve = <Value extends Reference>(value: Value): Value => {
    const { $ref } = value
    if ($ref === undefined) return value
    const found = $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((node, name) => Object(node)[name], document)
    return found as Value
  }

  const paths = Object.entries(document.paths)
    .toSorted(([a], [b]) => variables(a) - variables(b))
    .map(([template, operations]) => ({ expression: expressionOf(template, operations), operations }))

  const responsesFor = (method: string, path: string) => {
    const operations = paths.find(({ expression }) => expression.test(path))?.operations
    if (!operations) return undefined
    const own = operations[method.toLowerCase()] ?? (method === 'HEAD' ? operations['get'] : undefined)
    // All operations of a path describe the same answer to a method that the path does not support.
    return own ? own.responses : { 405: Object.values(operations)[0]?.responses['405'] ?? {} }
  }

  const checkHeader = (name: string, { required, schema }: Header, text: string | undefined) => {
    if (text === undefined && required) throw new Error(`The header ${name} is missing`)
    if (text === undefined || !schema) return
    checkValue(schema, schema.type === 'integer' ? Number(text) : text, `The header ${name}`)
  }

  const checkHeaders = (documented: Readonly<Record<string, Header>>, { headers }: CheckedAnswer) => {
    for (const [name, header] of Object.entries(documented)) {
      checkHeader(name, resolve(header), headers[name.toLowerCase()])
    }
    const known = new Set([...everyAnswer, ...Object.keys(documented).map((name) => name.toLowerCase())])
    const other = Object.keys(headers).find((name) => !known.has(name) && !isAddedOnTheWay(name))
    if (other) throw new Error(`The header ${other} is not documented`)
  }

  const checkBody = ({ content = {}, 'x-codes': codes }: Response, { headers, text }: CheckedAnswer) => {
    if (text === '') return
    const type = (headers['content-type'] ?? '').split(';')[0] ?? ''
    // A file may have the media type of a document. But only an answer with a file has Accept-Ranges.
    const documented = content[headers['accept-ranges'] === undefined ? type : '*/*'] ?? content['*/*']
    if (!documented) throw new Error(`A body of the type "${type}" is not documented`)
    if (documented.schema) checkText(type, documented.schema, text)
    if (codes) checkCode(codes, text)
  }

  const check = (method: string, path: string, answer: CheckedAnswer) => {
    const responses = responsesFor(method, path)
    const reference = responses ? responses[answer.status] : nowhere[answer.status]
    if (!reference) throw new Error('The status is not documented')
    const response = resolve(reference)
    if (responses) checkHeaders(response.headers ?? {}, answer)
    // A file may be empty, but a document may not.
    const needsBody = response.content && !response.content['*/*'] && method !== 'HEAD'
    if (needsBody && answer.text === '') throw new Error('The body is missing')
    checkBody(response, answer)
  }

  return (method: string, path: string, answer: CheckedAnswer): void => {
    // The preflight request of a browser is not an operation of the document.
    if (method === 'OPTIONS') return
    try {
      check(method, path, answer)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`${method} ${path} ${answer.status}: ${reason}\n${answer.text.slice(0, 1_000)}`, { cause })
    }
  }
}

const errorSchema = { $ref: '#/components/schemas/Error' }
const errorContent = { 'application/json': { schema: errorSchema }, 'application/xml': { schema: errorSchema } }

/** A path that is not in the document must answer 404 with the usual error body. */
const nowhere: Readonly<Record<number, Response>> = { 404: { content: errorContent } }
