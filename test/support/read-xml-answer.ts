import { parseXml, XmlElement } from '@rgrove/parse-xml'

/** XML has no numbers and booleans. So text in their form is converted, except in members that are always text. */
const textMembers: ReadonlySet<string> = new Set(['name', 'rel', 'uri', 'path', 'message', 'requestId'])
const listMembers: ReadonlySet<string> = new Set(['items', 'links', 'errors'])

const fromText = (name: string, text: string): unknown => {
  if (textMembers.has(name)) return text
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text
}

const fromElement = (element: XmlElement): unknown => {
  const { name, attributes, children, text } = element
  const members = children.filter((child) => child instanceof XmlElement)
  if (listMembers.has(name)) return members.map(fromElement)
  if (attributes['i:nil'] === 'true') return null
  if (members.length === 0) return fromText(name, text)
  return Object.fromEntries(members.map((member) => [member.name, fromElement(member)]))
}

/** Reads an XML answer of the service, and returns the equivalent JSON value with its lists and texts. */
export const readXmlAnswer = (text: string): unknown => {
  const { root } = parseXml(text)
  return root && fromElement(root)
}
