import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    scratch: string
  }
}

/** A folder for the services of a run. Test processes are killed without warning, so they cannot remove the folder. */
export default (project: TestProject): (() => void) => {
  const scratch = mkdtempSync(join(tmpdir(), 'site-admin-'))
  project.provide('scratch', scratch)
  return () => rmSync(scratch, { recursive: true, force: true })
}
