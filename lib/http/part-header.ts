/** What is not well-formed about a multipart body. */
export class MultipartError extends Error {
  override readonly name = 'MultipartError'
}

/** The type of a part that names none, or none that is well-formed: busboy would call it `text/plain`. */
export const undeclared = 'application/x-undeclared'

const mostFields = 32
const mediaType = /^content-type:\s*([!#$&^_.+0-9A-Za-z-]{1,64}\/[!#$&^_.+0-9A-Za-z-]{1,64})[ \t]*(?:;|$)/i
const parameter = /(;[ \t]*)([^\s"=;]+)=("(?:[^"\\]|\\.)*"|[^";]*)[ \t]*/gy

const refuseTwice = (names: readonly string[]): void => {
  if (new Set(names).size < names.length) throw new MultipartError('the header of a part says something twice')
}

/**
 * RFC 8187: `UTF-8''na%C3%AFve`. Its bytes are to come out as bytes, as those of an ordinary name do, for one strict decoder.
 * A name in another encoding becomes one that no decoder takes.
 */
const asBytes = (value: string): string => {
  const [label] = /^[^']*'/.exec(value) ?? []
  if (label === undefined) return value
  return /^utf-8'$/i.test(label) ? `latin1'${value.slice(label.length)}` : "latin1''%FF"
}

const plainType = (field = ''): string => `Content-Type: ${mediaType.exec(field)?.[1] ?? undeclared}`

const mendDisposition = (field: string): string => {
  const line = field
    .replace(/\r\n[ \t]+/g, ' ')
    // curl writes `attachment` when it is told a Content-Type of another kind.
    .replace(/^(content-disposition:[ \t]*)attachment(?=[ \t]*;)/i, '$1form-data')
    // Some clients end the last parameter like the others.
    .replace(/;[ \t]*$/, '')
  const first = line.indexOf(';')
  if (first < 0) return line
  const names: string[] = []
  const parameters = line.slice(first).replace(parameter, (whole, before: string, name: string, value: string) => {
    names.push(name.toLowerCase())
    return name.toLowerCase() === 'filename*' ? `${before}${name}=${asBytes(value)}` : whole
  })
  refuseTwice(names)
  return line.slice(0, first) + parameters
}

/**
 * The header of a part, without the blank line at its end, as busboy is to see it. busboy would pass over a part in some forms that
 * clients send, and takes the first of what comes twice: the former is mended here, the latter refused. Each character is a byte.
 * Errors: MultipartError.
 */
export const mendHeader = (header: string): string => {
  // A line that begins with a blank goes on with the field before it.
  const fields = header.split(/\r\n(?![ \t])/)
  if (fields.length > mostFields) throw new MultipartError('a part has too many header fields')
  const names = fields.map((field) => field.slice(0, field.indexOf(':')).toLowerCase())
  refuseTwice(names)
  const mended = fields.flatMap((field, index) => {
    if (names[index] === 'content-disposition') return mendDisposition(field)
    // busboy takes the first of two, and sees to it that the other one is well-formed.
    return names[index] === 'content-type' ? [plainType(field), field] : field
  })
  if (!names.includes('content-type')) mended.push(plainType())
  return mended.join('\r\n')
}
