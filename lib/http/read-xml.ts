import { parseXml, XmlDocumentType, XmlElement, XmlError } from '@rgrove/parse-xml'
import { deepestNesting, tooDeep } from './read-body.ts'

const integer = /^-?\d{1,15}$/
const dangerousNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
const longestReason = 200

const fromText = (text: string): unknown => {
  const word = text.trim()
  if (word === 'true') return true
  if (word === 'false') return false
  return integer.test(word) ? Number(word) : text
}

type ReadText = (text: string) => unknown

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

const isNil = ({ attributes }: XmlElement): boolean =>
  Object.entries(attributes).some(([name, value]) => localName(name) === 'nil' && ['true', '1'].includes(value))

const fromElement = (element: XmlElement, read: ReadText, depth: number): unknown => {
  if (depth < 0) throw tooDeep()
  if (isNil(element)) return null
  const members = element.children.filter((child) => child instanceof XmlElement)
  if (members.length === 0) return read(element.text)
  const byName = Map.groupBy(members, ({ name }) => localName(name))
  return Object.fromEntries(
    [...byName].map(([name, elements]) => {
      if (dangerousNames.has(name)) throw new Error(`the element <${name}> is not allowed`)
      const [first, ...others] = elements.map((one) => fromElement(one, read, depth - 1))
      return [name, others.length > 0 ? [first, ...others] : first]
    }),
  )
}

const parse = (text: string) => {
  try {
    return parseXml(text.replace(/\r\n?/g, '\n'), { preserveDocumentType: true })
  } catch (error) {
    // Deep nesting overflows the stack of the parser. A complete message of the parser would quote the body, which may
    // contain a password.
    if (!(error instanceof XmlError)) throw tooDeep()
    const [reason = ''] = error.message.split(' (line ', 1)
    throw new Error(`${reason.slice(0, longestReason)} (line ${error.line})`)
  }
}

/** F-29, F-30. Reads a small document. Throws an Error with the reason. */
export const readXml = (text: string, read: ReadText = fromText): unknown => {
  const { children, root } = parse(text)
  if (children.some((child) => child instanceof XmlDocumentType))
    throw new Error('a document type definition is not allowed')
  return root && fromElement(root, read, deepestNesting)
}
