import type { Document } from '../../lib/http/reply.ts'
import { entryNames, namespace } from '../../lib/http/write-xml.ts'
import { isNode, type Node } from './schemas.ts'

const componentOf = ({ $ref }: Node): string | undefined =>
  typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined

/** Gives a component its element name; one that has two would be written wrongly somewhere. */
const nameComponent = (components: Record<string, Node>, component: string, xml: Node) => {
  const known = components[component]?.['xml']
  if (isNode(known) && known['name'] !== xml['name']) throw new Error(`${component} has two element names`)
  components[component] = { ...components[component], xml: { ...(isNode(known) ? known : {}), ...xml } }
}

/**
 * Says in the words of OpenAPI how the edge writes a value as XML (lib/http/write-xml.ts): the root with its namespace, an
 * element around each list, and what its entries are called.
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
    const described = Object.entries(properties).map(([name, inner]) => {
      if (!isNode(inner)) return [name, inner]
      return [name, inner['type'] === 'array' ? list(name, inner) : visit(inner)]
    })
    return { ...node, properties: Object.fromEntries(described) }
  }

  const described = visit(schema)
  const component = componentOf(schema)
  if (!component) return { ...described, xml: { name: root, namespace } }
  nameComponent(components, component, { name: root, namespace })
  return described
}
