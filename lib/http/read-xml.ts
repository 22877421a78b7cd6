import { type ValidationError, XMLParser, XMLValidator } from 'fast-xml-parser'
import { deepestNesting } from './json.ts'

const integer = /^-?\d{1,15}$/
const references = /&(?!(?:amp|lt|gt|quot|apos);)/
// In comments, CDATA and instructions, ampersands start no references. An unclosed section extends to the end, so that
// no text is searched twice.
const verbatim = /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)/g

type Tree = { readonly [name: string]: unknown }

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  maxNestedTags: deepestNesting,
})

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null

const elementsIn = (tree: Tree) => Object.entries(tree).filter(([name]) => !name.startsWith('@') && name !== '#text')

// In XML, numbers and booleans are texts.
const fromText = (text: string): unknown => {
  const word = text.trim()
  if (word === 'true') return true
  if (word === 'false') return false
  return integer.test(word) ? Number(word) : text
}

type ReadText = (text: string) => unknown

const fromElement = (element: unknown, read: ReadText): unknown => {
  if (Array.isArray(element)) return element.map((one) => fromElement(one, read))
  if (!isTree(element)) return read(String(element))
  if (element['@nil'] === 'true' || element['@nil'] === '1') return null
  const members = elementsIn(element)
  if (members.length === 0) return read(String(element['#text'] ?? ''))
  return Object.fromEntries(members.map(([member, value]) => [member, fromElement(value, read)]))
}

const longestReason = 200

const reasonOf = ({ err: { code, msg, line } }: ValidationError): string => {
  const isList = code === 'InvalidXml' && msg.startsWith("Invalid '[")
  const reason = isList ? 'elements are not closed' : msg.replace(/\.$/, '').slice(0, longestReason)
  return `${reason} (line ${line})`
}

/** F-29, F-30. Reads a small document. Throws an Error with the reason. */
export const readXml = (text: string, read: ReadText = fromText): unknown => {
  if (/<!DOCTYPE|<!ENTITY/i.test(text)) throw new Error('a document type definition is not allowed')
  if (references.test(text.replace(verbatim, '')))
    throw new Error('references other than &amp; &lt; &gt; &quot; &apos; are not allowed')
  const validity = XMLValidator.validate(text)
  if (validity !== true) throw new Error(reasonOf(validity))
  const tree: Tree = parser.parse(text)
  const [root, second] = elementsIn(tree)
  if (!root || second || Array.isArray(root[1])) throw new Error('a document has exactly one root element')
  return fromElement(root[1], read)
}

/** As `readXml`, but all members are texts, because a password may look like a number. */
export const readXmlTexts = (text: string): unknown => readXml(text, (content) => content)
