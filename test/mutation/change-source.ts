import { appendFileSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { relative } from 'node:path'

// Every process that starts with this module reads another source of some files. The files stay as they are.

const { SOURCES, VISITS } = process.env
const sources = new Map<string, string>(JSON.parse(readFileSync(String(SOURCES), 'utf8')))

registerHooks({
  load(url, context, next) {
    const source = sources.get(url)
    return source === undefined ? next(url, context) : { format: 'module-typescript', source, shortCircuit: true }
  },
})

/** The file that Vitest runs, and the suite or case of it. Cases have a result as soon as they start. */
interface Running {
  readonly filepath: string
  readonly current?: { readonly result?: object }
}

/** A source calls `visit` to record that a test file runs it, in its cases or in its imports. */
const visit = (number: number) => {
  const { filepath, current } = (globalThis as { __vitest_worker__?: Running }).__vitest_worker__ ?? {}
  const line = JSON.stringify({ test: filepath && relative('', filepath), number, isImport: !current?.result })
  if (recorded.has(line)) return
  recorded.add(line)
  appendFileSync(String(VISITS), `${line}\n`)
}
const recorded = new Set<string>()
Object.assign(globalThis, { visit })
