import { XMLParser, XMLValidator } from 'fast-xml-parser'

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

interface Element {
  readonly name: string
  readonly namespace: string | undefined
  readonly isNil: boolean
  readonly text: string
  readonly children: readonly Element[]
}

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignoreDeclaration: true,
})

type Parsed = Readonly<Record<string, unknown>>

const isParsed = (value: unknown): value is Parsed => typeof value === 'object' && value !== null

const elementsIn = (nodes: unknown): Element[] =>
  (Array.isArray(nodes) ? nodes.filter(isParsed) : []).flatMap((node) => {
    const name = Object.keys(node).find((key) => key !== ':@' && key !== '#text')
    if (name === undefined) return []
    const attributes = isParsed(node[':@']) ? node[':@'] : {}
    const content = Array.isArray(node[name]) ? node[name] : []
    const text = content.flatMap((inner) => (isParsed(inner) && '#text' in inner ? [String(inner['#text'])] : []))
    const { xmlns } = attributes
    return [
      {
        name,
        namespace: typeof xmlns === 'string' ? xmlns : undefined,
        isNil: attributes['i:nil'] === 'true',
        text: text.join(''),
        children: elementsIn(content),
      },
    ]
  })

const only = (elements: readonly Element[]): Element => {
  const [element, another] = elements
  if (!element || another) throw new Error('The body does not have exactly one root element')
  return element
}

/** Reads an XML text by its schema. Throws an Error for an element that is not in the schema. */
export const readXmlBy = (schema: Schema, text: string, schemas: Schemas): unknown => {
  const resolve = (given: Schema): Schema => {
    const { $ref, allOf = [], ...rest } = given
    const parts = [...($ref ? [schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}] : []), ...allOf].map(resolve)
    return Object.assign({}, ...parts.toReversed(), rest)
  }

  const list = (items: Schema, { name, children }: Element): unknown[] => {
    const entry = resolve(items)
    return children.map((child) => {
      if (child.name !== entry.xml?.name) throw new Error(`<${child.name}> in <${name}> is not documented`)
      return read(entry, child)
    })
  }

  const members = (properties: Readonly<Record<string, Schema>>, { name, children }: Element) =>
    Object.fromEntries(
      children.map((child) => {
        const member = Object.hasOwn(properties, child.name) ? properties[child.name] : undefined
        if (!member) throw new Error(`<${child.name}> in <${name}> is not documented`)
        return [child.name, read(member, child)]
      }),
    )

  const scalar = ({ type }: Schema, element: Element): unknown => {
    if (type === 'integer' || type === 'number') return Number(element.text)
    if (type === 'boolean') return element.text === 'true' || (element.text === 'false' ? false : element.text)
    return element.text
  }

  const read = (given: Schema, element: Element): unknown => {
    if (element.isNil) return null
    const known = resolve(given)
    if (known.items) return list(known.items, element)
    if (known.properties) return members(known.properties, element)
    return scalar(known, element)
  }

  const validity = XMLValidator.validate(text)
  if (validity !== true) throw new Error(`The body is not well-formed XML: ${validity.err.msg}`)
  const root = only(elementsIn(parser.parse(text)))
  const { xml } = resolve(schema)
  if (root.name !== xml?.name || root.namespace !== xml.namespace) {
    throw new Error(`The root element <${root.name} xmlns="${root.namespace}"> differs from the document`)
  }
  return read(schema, root)
}
