import * as z from 'zod/mini'
import type { Document } from '../../lib/http/reply.ts'
import { entryNames, namespace } from '../../lib/http/write-xml.ts'

export type Node = { readonly [name: string]: unknown }

/** A schema in the document. This file reads only these members. */
interface JsonSchema extends Node {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  xml?: { readonly name?: string; readonly namespace?: string; readonly wrapped?: true }
}

// OpenAPI distinguishes whole numbers, even in lists of values. Without a format, many clients keep only 32 bits. A number
// without a maximum may have any length, also in a client.
const refine = ({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }) => {
  const { type, maximum = 0, enum: values = 'const' in jsonSchema ? [jsonSchema.const] : [] } = jsonSchema
  if (type === 'number' && values.length > 0 && values.every(Number.isInteger)) jsonSchema.type = 'integer'
  if (type === 'integer' && values.length === 0 && maximum >= 2 ** 31) jsonSchema.format = 'int64'
  if (jsonSchema.const === true) Object.assign(jsonSchema, { const: undefined, not: { const: false } })
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
 * Adds to the schema how lib/http/write-xml.ts writes its values: the root element, an element around each list, and
 * the names of list entries.
 */
const describeXml = (
  components: Readonly<Record<string, JsonSchema>>,
  schema: JsonSchema,
  { root, item = 'item' }: NonNullable<Document['xml']>,
): void => {
  const resolve = (node: JsonSchema) => components[node.$ref?.split('/').at(-1) ?? ''] ?? node

  const nameElement = (node: JsonSchema, name: string, more: object = {}): void => {
    const named = resolve(node)
    if ((named.xml?.name ?? name) !== name) throw new Error(`${node.$ref} has two element names`)
    named.xml = { ...named.xml, name, ...more }
  }

  const visit = (node: JsonSchema): void => {
    for (const [name, member] of Object.entries(resolve(node).properties ?? {})) {
      if (member.items) {
        member.xml = { wrapped: true }
        nameElement(member.items, entryNames[name] ?? item)
      }
      visit(member.items ?? member)
    }
  }

  visit(schema)
  nameElement(schema, root, { namespace })
}

/**
 * The schemas of the document. Schemas that are registered with an id become components. `sent` schemas, for bodies of
 * callers, allow unknown members; `answered` schemas do not. `xml` has the names of elements, if XML is possible too.
 */
export const createSchemas = () => {
  const components: Record<string, JsonSchema> = {}
  const converted: Record<string, string> = {}

  const convert =
    (io: 'input' | 'output') =>
    (schema: z.core.$ZodType, xml?: Document['xml']): Node => {
      const written = z.toJSONSchema(z.object({ schema }), { io, unrepresentable: 'any', override: refine })
      const { $defs = {}, properties } = JSON.parse(
        JSON.stringify(written).replaceAll('"#/$defs/', '"#/components/schemas/'),
        separateTypes,
      )
      for (const [name, definition] of Object.entries<JsonSchema>($defs)) {
        const { id: _, ...component } = definition
        const text = JSON.stringify(component)
        converted[name] ??= text
        if (converted[name] !== text) throw new Error(`Two schemas are called ${name}`)
        components[name] ??= component
      }
      if (xml) describeXml(components, properties.schema, xml)
      return properties.schema
    }
  return { components, sent: convert('input'), answered: convert('output') }
}
