import { XMLBuilder, XMLParser, XMLValidator } from 'fast-xml-parser'
import { deepestNesting } from './json.ts'
import type { Document } from './reply.ts'

/**
 * XML as the contract's clients speak it (decisions.md, section 3): element names are the JSON names, lists have an element per
 * entry, null is `i:nil`. XML knows no numbers and booleans, so text that reads as one becomes one, but for members that are text.
 */
const namespace = 'http://ns.adobe.com/bc/api/v1'
const instanceNamespace = 'http://www.w3.org/2001/XMLSchema-instance'

/** Members that are lists, and what their entries are called; the entries of `items` are called after the document. */
const entryNames: Readonly<Record<string, string>> = { links: 'link', errors: 'error' }
const isList = (name: string) => name === 'items' || name in entryNames

/** Members that stay text whatever they look like. */
const textMembers: ReadonlySet<string> = new Set(['name', 'rel', 'uri', 'path', 'message', 'requestId'])

const integer = /^-?\d{1,15}$/
const references = /&(?!(?:amp|lt|gt|quot|apos);)/

type Tree = { readonly [name: string]: unknown }

const builder = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  suppressEmptyNode: false,
  suppressBooleanAttributes: false,
})

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

const toElement = (value: unknown, item: string | undefined): unknown => {
  if (value === null) return { '@i:nil': 'true' }
  if (!isTree(value)) return String(value)
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (!Array.isArray(member)) return [name, toElement(member, item)]
      const entry = entryNames[name] ?? item ?? 'item'
      return [name, { [entry]: member.map((value) => toElement(value, item)) }]
    }),
  )
}

export const writeXml = ({ value, xml: { root, item } }: Document): string =>
  `<?xml version="1.0" encoding="utf-8"?>${builder.build({
    [root]: { '@xmlns': namespace, '@xmlns:i': instanceNamespace, ...(toElement(value, item) as Tree) },
  })}`

const fromText = (name: string, text: string): unknown => {
  if (textMembers.has(name)) return text
  const word = text.trim()
  if (word === 'true') return true
  if (word === 'false') return false
  return integer.test(word) ? Number(word) : text
}

const fromElement = (name: string, element: unknown): unknown => {
  if (isList(name)) {
    if (!isTree(element)) return []
    return Object.entries(element)
      .filter(([entry]) => !entry.startsWith('@') && entry !== '#text')
      .flatMap(([entry, values]) =>
        (Array.isArray(values) ? values : [values]).map((value) => fromElement(entry, value)),
      )
  }
  if (Array.isArray(element)) return element.map((value) => fromElement(name, value))
  if (!isTree(element)) return fromText(name, String(element))
  if (element['@nil'] === 'true') return null
  const members = Object.entries(element).filter(([member]) => !member.startsWith('@') && member !== '#text')
  if (members.length === 0) return fromText(name, String(element['#text'] ?? ''))
  return Object.fromEntries(members.map(([member, value]) => [member, fromElement(member, value)]))
}

/**
 * Reads a document with any root element, with or without namespaces. Throws an Error that says what is wrong with it;
 * a document type definition is refused, and so is every reference but the five that XML itself defines.
 */
export const readXml = (text: string): unknown => {
  if (/<!DOCTYPE|<!ENTITY/i.test(text)) throw new Error('a document type definition is not allowed')
  if (references.test(text)) throw new Error('references other than &amp; &lt; &gt; &quot; &apos; are not allowed')
  const validity = XMLValidator.validate(text)
  if (validity !== true) throw new Error(`${validity.err.msg} (line ${validity.err.line})`)
  const [root, second] = Object.entries(parser.parse(text) as Tree)
  if (!root || second || Array.isArray(root[1])) throw new Error('a document has exactly one root element')
  return fromElement('', root[1])
}
