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

test('a whole number that may exceed 32 bits has the format int64, because Go and Java clients need it', async () => {
  const narrow: string[] = []
  JSON.parse(await kept('openapi.json'), (name, value) => {
    const { type, format, enum: values, const: only = values, maximum = Number.POSITIVE_INFINITY } = Object(value)
    if (type === 'integer' && !only && maximum >= 2 ** 31 && format !== 'int64') narrow.push(name)
    return value
  })
  expect(narrow).toEqual([])
})

test('every operation that changes something documents a full disk (E-17)', async () => {
  const { paths }: { paths: Record<string, Record<string, { responses: object }>> } = JSON.parse(
    await kept('openapi.json'),
  )
  const changes = Object.values(paths).flatMap(({ get: _, head: __, ...others }) => Object.values(others))
  for (const { responses } of changes) expect(responses).toHaveProperty('507')
})
