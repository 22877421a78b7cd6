import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    scratch: string
  }
}

/** A folder for the services of a run. It remains after the test processes, which are killed without warning. */
export default (project: TestProject): (() => void) => {
  const scratch = mkdtempSync(join(tmpdir(), 'site-admin-'))
  project.provide('scratch', scratch)
  return () => rmSync(scratch, { recursive: true, force: true })
}
