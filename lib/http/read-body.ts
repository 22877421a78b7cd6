import * as secureJson from 'secure-json-parse'
import { type ErrorName, ServiceError } from '../core/errors.ts'
import { mediaType } from '../core/headers.ts'
import { formatOf } from './representation.ts'
import { bodyChunks, type Format, hasBody, queryText, type Request, refuseCoding } from './request.ts'

export const deepestNesting = 32

const nestsTooDeep = (value: unknown, depth: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth === 0 || Object.values(value).some((member) => nestsTooDeep(member, depth - 1)))

const quote = /, (?:\.{3})?".*is not valid JSON$/s

const parseJson = (text: string): unknown => {
  const value: unknown = secureJson.safeParse(text)
  if (value === null && text.trim() !== 'null')
    throw new Error('the members "__proto__" and "constructor.prototype" are not allowed')
  if (value !== undefined) return value
  try {
    return JSON.parse(text)
  } catch (error) {
    throw error instanceof SyntaxError ? new SyntaxError(error.message.replace(quote, '')) : error
  }
}

export const tooDeep = () => new Error(`it nests deeper than ${deepestNesting} levels`)

/**
 * Throws an Error with the reason. The reason does not quote the text, which may contain a password. Refuses members
 * that could change a prototype. For them, the library returns null; for a text that is not JSON, undefined.
 */
export const readJson = (text: string): unknown => {
  const value = parseJson(text)
  if (nestsTooDeep(value, deepestNesting)) throw tooDeep()
  return value
}

export const largestDocument = 64 * 1024

const refuseTooLarge = (length: number): void => {
  const message = `The request body is larger than the ${largestDocument} bytes allowed here. Send less at once.`
  if (length > largestDocument) throw new ServiceError('bodyTooLarge', { message })
}

const isUtf8 = (header: string): boolean => {
  const [, charset = 'utf-8'] = /;\s*charset=([^;]*)/i.exec(header) ?? []
  return ['utf-8', 'utf8', 'us-ascii'].includes(charset.replaceAll('"', '').trim().toLowerCase())
}

const startsAsJson = (text: string) => /^\s*[[{]/.test(text)

const startsAsForm = (text: string) => /^[\w.\-+*%[\]]+=/.test(text) && !startsAsJson(text)

const declaredFormat = (request: Request, { xml }: BodyForms): Format | 'form' => {
  const header = request.headers['content-type']
  if (!header || !hasBody(request)) return 'json'
  if (!isUtf8(header)) {
    const message = 'The request body is not declared as UTF-8. Send it in UTF-8.'
    throw new ServiceError('mediaTypeUnsupported', { message })
  }
  const type = mediaType(header) ?? ''
  if (type === 'application/x-www-form-urlencoded') return 'form'
  const format = formatOf(type)
  if (format === 'json' || (format === 'xml' && xml)) return format
  throw new ServiceError('mediaTypeUnsupported', {
    message: `The media type of the request body is not supported. Send the body as application/json${xml ? ' or application/xml' : ''}.`,
  })
}

/** Formats besides JSON. The operations supply the readers, which throw an Error with the reason. */
export interface BodyForms {
  readonly xml?: (text: string) => Promise<unknown>
  readonly form?: (text: string) => Promise<unknown>
  readonly inQuery?: true
}

const readText = async (request: Request, malformed: ErrorName): Promise<string> => {
  refuseTooLarge(Number(request.headers['content-length'] ?? 0))
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of bodyChunks(request.body, malformed)) {
    length += chunk.length
    refuseTooLarge(length)
    chunks.push(chunk)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks, length))
  } catch (cause) {
    throw new ServiceError(malformed, { message: 'The request body is not UTF-8. Send it in UTF-8.', cause })
  }
}

// A body that is declared as a form may be JSON. Some libraries declare a form in the body of a `DELETE` as JSON
// (C-45).
const actualFormat = (text: string, declared: Format | 'form', form: BodyForms['form']): Format | 'form' => {
  if (declared === 'json' && form && startsAsForm(text)) return 'form'
  if (declared !== 'form') return declared
  if (startsAsJson(text)) return 'json'
  if (form) return 'form'
  throw new ServiceError('mediaTypeUnsupported')
}

const writtenForm: Readonly<Record<Format | 'form', string>> = { json: 'JSON', xml: 'XML', form: 'form data' }

/** Errors: mediaTypeUnsupported, bodyTooLarge, and `malformed` for a body that cannot be read. */
export const readDocument = async (request: Request, malformed: ErrorName, forms: BodyForms = {}): Promise<unknown> => {
  const { xml, form, inQuery } = forms
  if (hasBody(request)) refuseCoding(request, 'mediaTypeUnsupported')
  const declared = declaredFormat(request, forms)
  const body = await readText(request, malformed)
  if (body === '' && !inQuery)
    throw new ServiceError(malformed, { message: 'The request has no body. GET /docs shows what to send.' })
  const text = body === '' ? queryText(request) : body
  const format = body === '' ? 'form' : actualFormat(body, declared, form)
  try {
    return await { json: readJson, xml, form }[format]?.(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it cannot be read'
    const fault = `The request body is not well-formed ${writtenForm[format]}: ${reason}.`
    throw new ServiceError(malformed, { message: `${fault} Correct the body, then send it again.`, cause })
  }
}
