import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { createValueChecks } from '../../acceptance/support/value-checks.ts'
import type { Schema } from '../../acceptance/support/xml-by-schema.ts'
import { test } from '../../support/test.ts'

interface Content {
  readonly schema?: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value?: unknown; readonly externalValue?: string }>>
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const isContent = (entry: [string, unknown]): entry is [string, Content] => isObject(entry[1])

const objectsIn = (tree: unknown): Readonly<Record<string, unknown>>[] =>
  isObject(tree) ? [tree, ...Object.values(tree).flatMap(objectsIn)] : []

const document = JSON.parse(await readFile(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'))
const objects = objectsIn([document.paths, document.components.responses])
/** Media types with their schemas and examples. */
const contents = objects.flatMap(({ content }) => Object.entries(content ?? {}).filter(isContent))
const parameters = objects.filter((one) => 'in' in one && 'schema' in one)

const shownIn = ({ example, examples = {} }: Content): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples).map(({ value, externalValue }) => value ?? externalValue),
]

test('every body in the document, of a request or an answer, has an example', () => {
  expect(contents.filter(([, content]) => shownIn(content).includes(undefined))).toEqual([])
  expect(contents.filter(([, content]) => shownIn(content).length === 0)).toEqual([])
})

/** The document has XML and bytes as texts, and JSON as values. */
const isText = (type: string, schema: Schema | undefined) => type === 'application/xml' || schema?.type === 'string'

test('every example in the document matches its schema', () => {
  const { checkText, checkValue } = createValueChecks(document.components.schemas)
  const counts: Record<string, number> = { 'application/json': 0, 'application/xml': 0 }
  for (const [type, { schema, example, examples = {} }] of contents) {
    const shown = [example, ...Object.values(examples).map(({ value }) => value)].filter((value) => value !== undefined)
    for (const value of shown) {
      counts[type] = (counts[type] ?? 0) + 1
      checkText(type, schema ?? {}, isText(type, schema) ? String(value) : JSON.stringify(value))
    }
  }
  expect(counts['application/json']).toBeGreaterThan(100)
  expect(counts['application/xml']).toBeGreaterThan(25)
  for (const { name, schema, example } of parameters) checkValue(schema as Schema, example, String(name))
  expect(parameters.length).toBeGreaterThan(200)
})

test('the document names the address of each example that is too large to show', async ({ service }) => {
  const addresses = contents.flatMap(([, { examples = {} }]) =>
    Object.values(examples).flatMap(({ externalValue }) => externalValue ?? []),
  )
  expect(addresses).toHaveLength(7)
  for (const address of addresses) {
    expect((await service.request(address.replace(document.servers[0].url, ''))).status).toBe(200)
  }
})

test('every query parameter of a file in the document has an effect on the answer', async ({ service }) => {
  const path = '/api/v2/admin/sites/{site}/storage/{path}'
  const parameters: readonly { name: string; in: string; description: string }[] = document.paths[path].get.parameters
  const switches = parameters.filter(
    ({ in: place, description }) => place === 'query' && /needs no value/.test(description),
  )
  const file = path.replace('{site}', 'current').replace('{path}', 'hello.txt')
  await service.request(file, { method: 'PUT', body: 'Hello' })
  const bytes = await service.request(file)
  expect(bytes.headers.get('Content-Type')).toBe('application/octet-stream')
  expect(switches.map(({ name }) => name)).toContain('meta')
  for (const { name } of switches) {
    const answer = await service.request(`${file}?${name}`)
    expect([name, answer.headers.get('Content-Type')]).toEqual([name, 'application/json; charset=utf-8'])
  }
})
