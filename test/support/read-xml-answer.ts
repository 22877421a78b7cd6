import { XMLParser, XMLValidator } from 'fast-xml-parser'

/** XML has no numbers and booleans. So text in their form is converted, except in members that are always text. */
const textMembers: ReadonlySet<string> = new Set(['name', 'rel', 'uri', 'path', 'message', 'requestId'])
const listMembers: ReadonlySet<string> = new Set(['items', 'links', 'errors'])

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignoreDeclaration: true,
})

type Tree = Readonly<Record<string, unknown>>

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null

/** The elements inside an element, without attributes and text. */
const elementsIn = (tree: Tree) => Object.entries(tree).filter(([name]) => !name.startsWith('@') && name !== '#text')

const fromText = (name: string, text: string): unknown => {
  if (textMembers.has(name)) return text
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text
}

const fromElement = (name: string, element: unknown): unknown => {
  if (listMembers.has(name)) {
    if (!isTree(element)) return []
    return elementsIn(element).flatMap(([entry, values]) =>
      (Array.isArray(values) ? values : [values]).map((value) => fromElement(entry, value)),
    )
  }
  if (!isTree(element)) return fromText(name, String(element))
  if (element['@i:nil'] === 'true') return null
  const members = elementsIn(element)
  if (members.length === 0) return fromText(name, String(element['#text'] ?? ''))
  return Object.fromEntries(members.map(([member, value]) => [member, fromElement(member, value)]))
}

/** Reads an XML answer of the service, and returns the equivalent JSON value with its lists and texts. */
export const readXmlAnswer = (text: string): unknown => {
  const validity = XMLValidator.validate(text)
  if (validity !== true) throw new Error(`${validity.err.msg} (line ${validity.err.line})`)
  const tree: Tree = parser.parse(text)
  const [root] = elementsIn(tree)
  return fromElement('', root?.[1])
}
