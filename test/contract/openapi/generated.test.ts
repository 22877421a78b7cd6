import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { generate } from '../../../tools/openapi/generate.ts'

const pathOf = (name: string) => fileURLToPath(new URL(`../../../docs/${name}`, import.meta.url))
const kept = (name: string) => readFile(pathOf(name), 'utf8')

test('the generated files are up to date (if not, run npm run openapi)', async () => {
  const generated = await generate()
  expect(Object.keys(generated)).toEqual(['openapi.json', 'errors.md', 'records.md'])
  for (const [name, text] of Object.entries(generated)) expect(await kept(name)).toBe(text)
})

/** `DELETE` of the root of the storage is always refused, and a sign-in at an issuer only redirects. */
const isMeant = ({ ruleId, location }: { ruleId: string; location: { pointer?: string | undefined }[] }) =>
  ruleId !== 'operation-2xx-response' ||
  !location.some(({ pointer = '' }) => /\{site\}~1storage\/delete|~1sign-in~1\{issuer\}/.test(pointer))

const lint = async (source: string) => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    // The linter mistakes the XML text of an example for a value of the schema. Another test reads these examples.
    rules: { 'no-invalid-media-type-examples': 'off' },
  })
  const problems = await lintFromString({ source, absoluteRef: pathOf('openapi.json'), config })
  return problems.filter(isMeant).map(({ severity, ruleId, message, location }) => ({
    severity,
    ruleId,
    message,
    at: location.map(({ pointer }) => pointer),
  }))
}

test('the linter finds nothing in the document', async () => {
  expect(await lint(await kept('openapi.json'))).toEqual([])
})

type Look = NonNullable<Parameters<typeof JSON.parse>[1]>

/** These schemas break the clients of a popular generator, such as openapi-generator or oapi-codegen. */
const isUnreadable: Look = (_, value) => {
  const { type, format, pattern, const: only, enum: values = only, maximum = 0, schema, $ref, items } = Object(value)
  if (type === 'integer') return values === undefined && maximum >= 2 ** 31 && format !== 'int64'
  if (Array.isArray(type)) return type.length > 2
  if ($ref && value.anyOf) return true
  if (items?.format === 'binary') return 'minItems' in value || 'maxItems' in value
  if ((typeof only === 'string' && !type) || only === true) return true
  return (pattern && /^date/.test(format)) || (value?.in === 'path' && schema.anyOf)
}

const isLongName: Look = (name) => /^\w{101,}$/.test(name)
const lacksFullDisk: Look = (method, operation) =>
  /^p|^delete$/.test(method) && operation.responses && !operation.responses[507]

test.each([
  ['has only schemas that generators of clients understand', isUnreadable],
  ['has only names that generators can use as names of files', isLongName],
  ['mentions a full disk for each change (E-17)', lacksFullDisk],
])('the document %s', async (_, isFault) => {
  const found: unknown[] = []
  JSON.parse(await kept('openapi.json'), (name, value) => {
    if (isFault(name, value)) found.push(name)
    return value
  })
  expect(found).toEqual([])
})

interface Component {
  readonly enum?: readonly unknown[]
  readonly 'x-enum-varnames'?: readonly string[]
}

test('clients in Go have one meaning for each name of the document', async () => {
  const { components } = JSON.parse(await kept('openapi.json'))
  const names = Object.entries<Component>(components.schemas).flatMap(
    ([name, { enum: values = [], 'x-enum-varnames': constants = values }]) => [name, `New${name}`, ...constants],
  )
  expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([])
})
