import { readFileSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'

/**
 * `npm run generate -w client [-- FOLDER]` generates the types and low-level calls from docs/openapi.json, without the
 * network. A test compares the committed files with its output.
 */
// The generator uses TypeScript as a library, but version 7, which the project uses, is no library. So the generator
// uses the version in this folder.
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier === 'typescript' ? { ...context, parentURL: import.meta.url } : context),
})
const { createClient } = await import('@hey-api/openapi-ts')

const input = join(import.meta.dirname, '..', 'docs', 'openapi.json')
const path = process.argv[2] ?? join(import.meta.dirname, 'src', 'generated')
await createClient({
  input,
  output: { path, clean: true, entryFile: false },
  logs: { level: 'silent' },
  plugins: ['@hey-api/typescript'],
})

const { paths } = JSON.parse(readFileSync(input, 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
}
const types = readFileSync(join(path, 'types.gen.ts'), 'utf8')
const operations = Object.entries(paths).flatMap(([address, methods]) =>
  Object.entries(methods).map(([method, { operationId: id }]) => {
    const name = id.charAt(0).toUpperCase() + id.slice(1)
    const answer = types.includes(`type ${name}Response =`) ? `T.${name}Response` : 'unknown'
    const variables = [...address.matchAll(/\{(\w+)\}/g)].map(([, variable]) => `'${variable}'`)
    const path = variables.length > 0 ? ` & { path: Record<${variables.join(' | ')}, string | number> }` : ''
    const parameters = `Omit<T.${name}Data, 'url' | 'path'>${path}, ${answer}`
    return `export const ${id} = /* @__PURE__ */ operation<${parameters}>('${method.toUpperCase()}', '${address}')\n`
  }),
)
const imports = ["import { operation } from '../operation.ts'\n", "import type * as T from './types.gen.ts'\n"]
writeFileSync(join(path, 'operations.gen.ts'), [...imports, ...operations].join(''))
