import * as z from 'zod/mini'
import type { Document } from '../../lib/http/reply.ts'
import { entryNames, namespace } from '../../lib/http/write-xml.ts'

export type Node = { readonly [name: string]: unknown }

export const mapValues = <Value, Result>(
  values: { readonly [name: string]: Value },
  map: (value: Value, name: string) => Result,
): { readonly [name: string]: Result } =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]))

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)

type Schema = z.core.$ZodType

// OpenAPI distinguishes whole numbers, even in lists of values. Without a format, many clients keep only 32 bits. A number
// without a maximum may have any length, also in a client.
const refine = ({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }) => {
  const { type, maximum = 0, enum: values = 'const' in jsonSchema ? [jsonSchema.const] : [] } = jsonSchema
  if (type === 'number' && values.length > 0 && values.every(Number.isInteger)) jsonSchema.type = 'integer'
  if (type === 'integer' && values.length === 0 && maximum >= 2 ** 31) jsonSchema.format = 'int64'
  if (/^date/.test(jsonSchema.format ?? '')) delete jsonSchema.pattern
}

// Many generators know a list of types only if it has one type and null.
const separateTypes = (_: string, value: unknown): unknown => {
  const { type } = Object(value)
  if (!Array.isArray(type) || !type.includes('null') || type.length < 3) return value
  const [first, ...others] = type.filter((one) => one !== 'null')
  return { anyOf: [{ type: [first, 'null'] }, ...others.map((one) => ({ type: one }))] }
}

/**
 * The schemas of the document. Schemas that are registered with an id become components. `sent` schemas, for bodies of
 * callers, allow unknown members; `answered` schemas do not.
 */
export const createSchemas = () => {
  const components: Record<string, Node> = {}
  const converted: Record<string, string> = {}

  const convert = (schema: Schema, io: 'input' | 'output'): Node => {
    const written = z.toJSONSchema(z.object({ schema }), { io, unrepresentable: 'any', override: refine })
    const { $defs = {}, properties } = JSON.parse(
      JSON.stringify(written).replaceAll('"#/$defs/', '"#/components/schemas/'),
      separateTypes,
    )
    for (const [name, definition] of Object.entries<Node>($defs)) {
      const { id: _, ...component } = definition
      const text = JSON.stringify(component)
      converted[name] ??= text
      if (converted[name] !== text) throw new Error(`Two schemas are called ${name}`)
      components[name] ??= component
    }
    return properties.schema
  }

  return {
    components,
    sent: (schema: Schema): Node => convert(schema, 'input'),
    answered: (schema: Schema): Node => convert(schema, 'output'),
  }
}

export type Schemas = ReturnType<typeof createSchemas>

const componentOf = ({ $ref }: Node): string | undefined =>
  typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined

// A component can have only one element name.
const nameComponent = (components: Record<string, Node>, component: string, xml: Node) => {
  const known = components[component]?.['xml']
  if (isNode(known) && known['name'] !== xml['name']) throw new Error(`${component} has two element names`)
  components[component] = { ...components[component], xml: { ...(isNode(known) ? known : {}), ...xml } }
}

/**
 * Adds to the schema how lib/http/write-xml.ts writes its values: the root element, an element around each list, and
 * the names of list entries.
 */
export const describeXml = (
  components: Record<string, Node>,
  schema: Node,
  { root, item = 'item' }: NonNullable<Document['xml']>,
) => {
  const visited = new Set<string>()

  const list = (name: string, schema: Node): Node => {
    const { items } = schema
    const entry = entryNames[name] ?? item
    if (!isNode(items)) return schema
    const component = componentOf(items)
    if (component) nameComponent(components, component, { name: entry })
    const described = visit(items)
    return { ...schema, xml: { wrapped: true }, items: component ? described : { ...described, xml: { name: entry } } }
  }

  const visit = (node: Node): Node => {
    const component = componentOf(node)
    if (component) {
      if (!visited.has(component)) {
        visited.add(component)
        components[component] = visit(components[component] ?? {})
      }
      return node
    }
    const { properties } = node
    if (!isNode(properties)) return node
    const described = mapValues(properties, (inner, name) => {
      if (!isNode(inner)) return inner
      return inner['type'] === 'array' ? list(name, inner) : visit(inner)
    })
    return { ...node, properties: described }
  }

  const described = visit(schema)
  const component = componentOf(schema)
  if (!component) return { ...described, xml: { name: root, namespace } }
  nameComponent(components, component, { name: root, namespace })
  return described
}
