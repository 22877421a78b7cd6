import * as z from 'zod/mini'

/** A node of the document that is being written. */
export type Node = { readonly [name: string]: unknown }

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Schema = z.core.$ZodType

const definitions = '#/$defs/'
const components = '#/components/schemas/'

/** What OpenAPI says better than the conversion: whole numbers are integers, and references lead to the components. */
const refine = (node: Node): Node => {
  const { id: _id, $schema: _schema, ...rest } = node
  const { type, $ref } = rest
  const values = Array.isArray(rest['enum']) ? rest['enum'] : 'const' in rest ? [rest['const']] : []
  return {
    ...rest,
    ...(type === 'number' && values.length > 0 && values.every(Number.isInteger) && { type: 'integer' }),
    ...(typeof $ref === 'string' && { $ref: $ref.replace(definitions, components) }),
  }
}

/**
 * The document's schemas. Those registered under an id become components, and are referred to by it.
 * `io` tells apart what callers send (unknown members are let pass) and what they get (there are none).
 */
export const createSchemas = () => {
  const named: Record<string, Node> = {}
  /** As they were converted, before the names of their elements were put in. */
  const converted: Record<string, string> = {}

  const convert = (schema: Schema, io: 'input' | 'output'): Node => {
    const { $defs, properties } = z.toJSONSchema(z.object({ schema }), { io, unrepresentable: 'any' })
    for (const [name, definition] of Object.entries($defs ?? {})) {
      const component = mapDefinition(definition)
      converted[name] ??= JSON.stringify(component)
      if (converted[name] !== JSON.stringify(component)) throw new Error(`Two schemas are called ${name}`)
      named[name] ??= component
    }
    return mapDefinition(properties?.['schema'])
  }

  return {
    components: named,
    sent: (schema: Schema): Node => convert(schema, 'input'),
    answered: (schema: Schema): Node => convert(schema, 'output'),
  }
}

export type Schemas = ReturnType<typeof createSchemas>

/** Names of members are not schemas: an `id` among them is a member like any other. */
const mapDefinition = (definition: unknown): Node => {
  if (!isNode(definition)) return {}
  const mapped = Object.fromEntries(
    Object.entries(definition).map(([keyword, value]) => [
      keyword,
      keyword === 'properties' && isNode(value)
        ? Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, mapDefinition(inner)]))
        : keyword === 'examples' || keyword === 'default' || keyword === 'enum' || keyword === 'const'
          ? value
          : mapInner(value),
    ]),
  )
  return refine(mapped)
}

const mapInner = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((entry) => (isNode(entry) ? mapDefinition(entry) : entry))
  return isNode(value) ? mapDefinition(value) : value
}
