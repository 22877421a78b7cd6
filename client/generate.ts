import { registerHooks } from 'node:module'
import { join } from 'node:path'

/**
 * `npm run generate -w client [-- FOLDER]` generates the types and low-level calls from docs/openapi.json, without the
 * network. A test compares the committed files with its output.
 */
// The generator calls TypeScript as a library, which version 7 of the project is not. It gets the version of this
// folder.
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier === 'typescript' ? { ...context, parentURL: import.meta.url } : context),
})
const { createClient } = await import('@hey-api/openapi-ts')

await createClient({
  input: join(import.meta.dirname, '..', 'docs', 'openapi.json'),
  output: {
    path: process.argv[2] ?? join(import.meta.dirname, 'src', 'generated'),
    clean: true,
    module: { extension: '.ts' },
    // The generated code does not support exactOptionalPropertyTypes.
    header: ({ defaultValue }) => ['// @ts-nocheck', ...defaultValue],
  },
  logs: { level: 'silent' },
  // The transport adds the token.
  plugins: ['@hey-api/typescript', '@hey-api/client-fetch', { name: '@hey-api/sdk', auth: false }],
})
