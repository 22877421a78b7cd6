import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'

// Every process that starts with this module appends to a file which test file has come to the code of which change.

const recorded = new Set<string>()

const recordVisit = (change: string) => {
  const { __vitest_worker__: running } = globalThis as { __vitest_worker__?: { readonly filepath: string } }
  const line = `${change} ${relative('', running?.filepath ?? '')}\n`
  if (!recorded.has(line)) appendFileSync(String(process.env['VISITS']), line)
  recorded.add(line)
  return true
}

/** An instrumented source adds one to the count of a change when it comes to the code there. */
const counts = new Proxy({}, { set: (_, change) => recordVisit(String(change)) })
Object.assign(globalThis, { __stryker__: { mutantCoverage: { static: counts } } })
