import { parseXml, XmlElement } from '@rgrove/parse-xml'

/** The parts of a JSON Schema that the reader uses, including `xml` of OpenAPI. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly xml?: { readonly name?: string; readonly namespace?: string; readonly wrapped?: boolean }
}

type Schemas = Readonly<Record<string, Schema>>

const elementsIn = ({ children }: XmlElement) => children.filter((child) => child instanceof XmlElement)

/** Reads an XML text by its schema. Throws an Error for an element that is not in the schema. */
export const readXmlBy = (schema: Schema, text: string, schemas: Schemas): unknown => {
  const resolve = (given: Schema): Schema => {
    const { $ref, allOf = [], ...rest } = given
    const parts = [...($ref ? [schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}] : []), ...allOf].map(resolve)
    return Object.assign({}, ...parts.toReversed(), rest)
  }

  const list = (items: Schema, element: XmlElement): unknown[] => {
    const entry = resolve(items)
    return elementsIn(element).map((child) => {
      if (child.name !== entry.xml?.name) throw new Error(`<${child.name}> in <${element.name}> is not documented`)
      return read(entry, child)
    })
  }

  const members = (properties: Readonly<Record<string, Schema>>, element: XmlElement) =>
    Object.fromEntries(
      elementsIn(element).map((child) => {
        const member = Object.hasOwn(properties, child.name) ? properties[child.name] : undefined
        if (!member) throw new Error(`<${child.name}> in <${element.name}> is not documented`)
        return [child.name, read(member, child)]
      }),
    )

  const scalar = ({ type }: Schema, element: XmlElement): unknown => {
    if (type === 'integer' || type === 'number') return Number(element.text)
    if (type === 'boolean') return element.text === 'true' || (element.text === 'false' ? false : element.text)
    return element.text
  }

  const read = (given: Schema, element: XmlElement): unknown => {
    if (element.attributes['i:nil'] === 'true') return null
    const known = resolve(given)
    if (known.items) return list(known.items, element)
    if (known.properties) return members(known.properties, element)
    return scalar(known, element)
  }

  const { root } = parseXml(text)
  const { xml } = resolve(schema)
  if (!root || root.name !== xml?.name || root.attributes['xmlns'] !== xml.namespace) {
    throw new Error(`The root element of ${text.slice(0, 200)} differs from the document`)
  }
  return read(schema, root)
}
