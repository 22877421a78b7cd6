import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export const makeDirectory = (): string => mkdtempSync(join(tmpdir(), 'site-admin-'))

export const removeDirectory = (directory: string): void => rmSync(directory, { recursive: true, force: true })

/** A directory that is removed after the test, or when `closes` says so. */
export const scratchDirectory = (closes: (close: () => void) => unknown = onTestFinished): string => {
  const directory = makeDirectory()
  closes(() => removeDirectory(directory))
  return directory
}
