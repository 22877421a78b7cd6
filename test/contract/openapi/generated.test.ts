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

/** Each of these forms breaks the clients of a popular generator, such as openapi-generator or oapi-codegen. */
const isUnreadable = (value: unknown): boolean => {
  const {
    type,
    format,
    pattern,
    in: place,
    schema,
    const: only,
    enum: values = only,
    maximum = 2 ** 31,
  } = Object(value)
  return [
    type === 'integer' && values === undefined && maximum >= 2 ** 31 && format !== 'int64',
    type === undefined && typeof only === 'string',
    pattern !== undefined && /^date/.test(format ?? ''),
    Array.isArray(type) && type.length > 2,
    place === 'path' && schema.anyOf,
  ].some(Boolean)
}

test('generators of clients understand all schemas of the document', async () => {
  const found: unknown[] = []
  JSON.parse(await kept('openapi.json'), (_, value) => {
    if (isUnreadable(value)) found.push(value)
    return value
  })
  expect(found).toEqual([])
})

test('every operation that changes something documents a full disk (E-17)', async () => {
  const { paths }: { paths: Record<string, Record<string, { responses: object }>> } = JSON.parse(
    await kept('openapi.json'),
  )
  const changes = Object.values(paths).flatMap(({ get: _, head: __, ...others }) => Object.values(others))
  for (const { responses } of changes) expect(responses).toHaveProperty('507')
})
