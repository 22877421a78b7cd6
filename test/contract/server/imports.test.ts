import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

/** The packages that a module loads, with all that it imports. */
const packagesOf = async (modules: readonly string[]): Promise<string[]> => {
  const { metafile } = await build({
    entryPoints: modules.map((module) => join(import.meta.dirname, '..', '..', '..', module)),
    outdir: 'nowhere',
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    metafile: true,
  })
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports)
  return [...new Set(imports.filter(({ external }) => external).map(({ path }) => path))]
    .filter((path) => !path.startsWith('node:'))
    .sort()
}

test('neither the core, nor the server, nor anything of one machine loads anything of AWS', async () => {
  const groups = ['documentation', 'fields', 'categories', 'storage']
  const packages = await packagesOf([
    'server/create-server.ts',
    'server/dispatch.ts',
    'local/main.ts',
    ...groups.map((group) => `functions/${group}/group.ts`),
  ])
  expect(packages).toContain('negotiator')
  expect(packages.filter((name) => /aws|smithy|middy/.test(name))).toEqual([])
})
