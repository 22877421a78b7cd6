import type { Document, XmlDocument } from './reply.ts'

export const xmlNames = {
  credentials: { root: 'credentials' },
  token: { root: 'authToken' },
  sites: { root: 'sites', item: 'site' },
  field: { root: 'field' },
  fields: { root: 'fields', item: 'field' },
  webForm: { root: 'webForm' },
  webForms: { root: 'webForms', item: 'webForm' },
  fieldTypes: { root: 'fieldTypes', item: 'fieldType' },
} as const satisfies Record<string, Document['xml']>

/** F-27, F-28. The package of the XML parser also has a writer, but it takes ten times as long as this one. */
export const namespace = 'http://ns.adobe.com/bc/api/v1'
const namespaces = `xmlns="${namespace}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"`

export const entryNames: Readonly<Record<string, string>> = {
  links: 'link',
  errors: 'error',
  permissions: 'permission',
}

// Parsers would read a literal carriage return as a line feed.
const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' }
const escaped = /[&<>\r]/g

// XML 1.0 cannot contain these characters, not even as references.
const unwritable = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu

const text = (value: string): string =>
  value.replace(unwritable, '\u{FFFD}').replace(escaped, (character) => escapes[character] ?? character)

const content = (name: string, value: unknown, item: string): string => {
  if (typeof value === 'string') return text(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return value.map((entry) => element(entryNames[name] ?? item, entry, item)).join('')
  return Object.entries(value)
    .map(([member, inner]) => (inner === undefined ? '' : element(member, inner, item)))
    .join('')
}

const element = (name: string, value: unknown, item: string): string =>
  value === null ? `<${name} i:nil="true"/>` : `<${name}>${content(name, value, item)}</${name}>`

export const writeXml = ({ value, xml: { root, item = 'item' } }: XmlDocument): string =>
  `<?xml version="1.0" encoding="utf-8"?><${root} ${namespaces}>${content(root, value, item)}</${root}>`
