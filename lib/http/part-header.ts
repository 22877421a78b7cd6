/** What is not well-formed about a multipart body. */
export class MultipartError extends Error {
  override readonly name = 'MultipartError'
}

/** What the header of a part says of it. */
export interface PartHeader {
  readonly name: string | undefined
  /** As it came: with a path in front, maybe, and empty when the client sent an empty one. */
  readonly fileName: string | undefined
  /** `type/subtype` in lower case. */
  readonly contentType: string | undefined
}

const mostFields = 32
const fieldLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\r\n]*)$/
/** curl calls its parts attachments when the request itself is declared as anything but `multipart/form-data`. */
const dispositionType = /^(?:form-data|attachment)[ \t]*(?=;|$)/i
const mediaType = /^([!#$&^_.+0-9A-Za-z-]{1,64}\/[!#$&^_.+0-9A-Za-z-]{1,64})[ \t]*(?:;|$)/
const parameter = /;[ \t]*([!#$&+.^_`|~0-9A-Za-z-]+\*?)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))[ \t]*/gy

const decodeText = (bytes: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new MultipartError('the header of a part is not UTF-8')
  }
}

/** A `\` keeps its meaning in a path (`C:\photos\a.jpg`), as browsers send it; in front of a quote it quotes. */
const unquote = (text: string): string => text.replace(/\\(["])/g, '$1')

/** RFC 5987: `UTF-8''na%C3%AFve`. */
const decodeExtended = (value: string): string => {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(value) ?? []
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded)
  } catch {
    // Named below.
  }
  throw new MultipartError('the file name of a part is not well-formed')
}

const parametersOf = (value: string, from: number): Map<string, string> => {
  const parameters = new Map<string, string>()
  let at = from
  for (const match of value.slice(from).matchAll(parameter)) {
    const [whole, name = '', quoted, plain = ''] = match
    const key = name.toLowerCase()
    if (parameters.has(key)) throw new MultipartError('a part names something twice')
    parameters.set(key, quoted === undefined ? plain : unquote(quoted))
    at += whole.length
  }
  // Some clients end the last parameter like the others.
  if (!/^(?:;[ \t]*)?$/.test(value.slice(at)))
    throw new MultipartError('the Content-Disposition of a part is not well-formed')
  return parameters
}

const fieldsOf = (block: Buffer): Map<string, string> => {
  const fields = new Map<string, string>()
  if (block.length === 0) return fields
  // A folded line goes on with its first blank.
  const lines = decodeText(block)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  if (lines.length > mostFields) throw new MultipartError('a part has too many header fields')
  for (const line of lines) {
    const [, name, value] = fieldLine.exec(line) ?? []
    if (name === undefined || value === undefined)
      throw new MultipartError('a header field of a part is not well-formed')
    const key = name.toLowerCase()
    if (fields.has(key)) throw new MultipartError(`a part has two ${name} fields`)
    fields.set(key, value.trim())
  }
  return fields
}

/** Reads the header of a part, without the blank line at its end. Errors: MultipartError. */
export const readPartHeader = (block: Buffer): PartHeader => {
  const fields = fieldsOf(block)
  const disposition = fields.get('content-disposition') ?? ''
  const type = dispositionType.exec(disposition)
  const parameters = type ? parametersOf(disposition, type[0].length) : new Map<string, string>()
  const extended = parameters.get('filename*')
  return {
    name: parameters.get('name'),
    fileName: extended === undefined ? parameters.get('filename') : decodeExtended(extended),
    contentType: mediaType.exec(fields.get('content-type') ?? '')?.[1]?.toLowerCase(),
  }
}
