import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createValueChecks } from '../../acceptance/support/value-checks.ts'
import type { Schema } from '../../acceptance/support/xml-by-schema.ts'

interface Content {
  readonly schema?: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const isContent = (entry: [string, unknown]): entry is [string, Content] => isObject(entry[1])

/** Every `content` in a tree: media type and what is said of it. */
const contentsIn = (tree: unknown): [string, Content][] => {
  if (!isObject(tree)) return []
  const own = isObject(tree['content']) ? Object.entries(tree['content']).filter(isContent) : []
  return [...own, ...Object.values(tree).flatMap(contentsIn)]
}

test('every example in the document, JSON and XML, is as its schema says', async () => {
  const document = JSON.parse(await readFile(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'))
  const { checkText } = createValueChecks(document.components.schemas)
  const counts: Record<string, number> = { 'application/json': 0, 'application/xml': 0 }
  for (const [type, { schema, example, examples = {} }] of contentsIn([
    document.paths,
    document.components.responses,
  ])) {
    const shown = [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)]
    for (const value of shown) {
      counts[type] = (counts[type] ?? 0) + 1
      checkText(type, schema ?? {}, typeof value === 'string' ? value : JSON.stringify(value))
    }
  }
  expect(counts['application/json']).toBeGreaterThan(50)
  expect(counts['application/xml']).toBeGreaterThan(20)
})
