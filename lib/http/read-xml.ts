import { type ValidationError, XMLParser, XMLValidator } from 'fast-xml-parser'
import { deepestNesting } from './json.ts'

const integer = /^-?\d{1,15}$/
const references = /&(?!(?:amp|lt|gt|quot|apos);)/
/** Where an ampersand is no reference. What is not closed runs to the end, so that no text is looked through twice. */
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

/** What stands inside an element, without its attributes and the text around its elements. */
const elementsIn = (tree: Tree) => Object.entries(tree).filter(([name]) => !name.startsWith('@') && name !== '#text')

/** XML knows no numbers and booleans: text that reads as one becomes one. */
const fromText = (text: string): unknown => {
  const word = text.trim()
  if (word === 'true') return true
  if (word === 'false') return false
  return integer.test(word) ? Number(word) : text
}

const fromElement = (element: unknown): unknown => {
  if (Array.isArray(element)) return element.map(fromElement)
  if (!isTree(element)) return fromText(String(element))
  if (element['@nil'] === 'true' || element['@nil'] === '1') return null
  const members = elementsIn(element)
  if (members.length === 0) return fromText(String(element['#text'] ?? ''))
  return Object.fromEntries(members.map(([member, value]) => [member, fromElement(value)]))
}

/** What a fault may quote of the document, in characters. */
const longestReason = 200

/** Why a document is none. The validator's own words may hold every element that is not closed. */
const reasonOf = ({ err: { code, msg, line } }: ValidationError): string => {
  const isList = code === 'InvalidXml' && msg.startsWith("Invalid '[")
  const reason = isList ? 'elements are not closed' : msg.replace(/\.$/, '').slice(0, longestReason)
  return `${reason} (line ${line})`
}

/**
 * Reads the body of a request, a small document of elements, numbers and booleans, with any root element, with or without namespaces.
 * Throws an Error that says what is wrong with it; a document type definition is refused, and so is every reference but the five that XML itself defines.
 */
export const readXml = (text: string): unknown => {
  if (/<!DOCTYPE|<!ENTITY/i.test(text)) throw new Error('a document type definition is not allowed')
  if (references.test(text.replace(verbatim, '')))
    throw new Error('references other than &amp; &lt; &gt; &quot; &apos; are not allowed')
  const validity = XMLValidator.validate(text)
  if (validity !== true) throw new Error(reasonOf(validity))
  const tree: Tree = parser.parse(text)
  const [root, second] = elementsIn(tree)
  if (!root || second || Array.isArray(root[1])) throw new Error('a document has exactly one root element')
  return fromElement(root[1])
}
