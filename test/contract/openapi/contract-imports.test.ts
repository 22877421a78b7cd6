import { globSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..', '..')
const entries = [...globSync('functions/entries/*.ts', { cwd: root }), 'local/main.js']

/** The files of the project in bundles, by their paths from the root, with those that are loaded later. */
const filesOf = async (...entryPoints: readonly string[]): Promise<readonly string[]> => {
  const { metafile } = await build({
    entryPoints: [...entryPoints],
    absWorkingDir: root,
    outdir: 'nowhere',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    metafile: true,
  })
  return Object.keys(metafile.inputs)
}

/** Files that only the OpenAPI document needs: its texts and its generator. */
const isOfTheDocument = (file: string): boolean =>
  /^lib\/contract\/(.*\/)?contract[\w-]*\.ts$|^tools\/openapi\//.test(file)

test('the bundles of the functions and of the service contain no part of the document', async () => {
  const files = await filesOf(...entries)
  expect(files).toEqual(expect.arrayContaining(entries))
  expect(files.filter(isOfTheDocument)).toEqual([])
})

test('the document is made from the contract of every group', async () => {
  expect((await filesOf('tools/openapi/generate.ts')).filter(isOfTheDocument)).toEqual(
    expect.arrayContaining(
      ['fields', 'categories', 'storage', 'documentation'].map((group) => `lib/contract/${group}/contract.ts`),
    ),
  )
})

test('checking bodies adds only a small part of the schema library to a bundle', async () => {
  const { metafile } = await build({
    entryPoints: [join(root, 'lib/http/validate.ts')],
    outdir: 'nowhere',
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    metafile: true,
  })
  const [{ bytes } = { bytes: 0 }] = Object.values(metafile.outputs)
  expect(bytes).toBeLessThan(40_000)
})
