import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleFunction } from './bundle.ts'
import { type FunctionName, functionEntry, functionNames, functionSettings } from './functions.ts'

/** A folder with the bundle of each function. */
export type Bundles = Readonly<Record<FunctionName | 'registration', string>>

const registration = join(import.meta.dirname, '..', 'functions', 'registration', 'handler.ts')

export const bundleFunctions = async (): Promise<Bundles> => {
  const folder = mkdtempSync(join(tmpdir(), 'site-admin-bundles-'))
  // By then the app has copied what it deploys.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const entries = [
    ...functionNames.map((name) => [name, functionEntry(name), functionSettings[name].packageFiles] as const),
    ['registration', registration, undefined] as const,
  ]
  const bundled = entries.map(async ([name, entry, packageFiles]) => {
    await bundleFunction(entry, join(folder, name), packageFiles)
    return [name, join(folder, name)]
  })
  return Object.fromEntries(await Promise.all(bundled))
}
