import { readFileSync } from 'node:fs'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import { noopLogger } from '@stryker-mutator/util'

export type Change = Awaited<ReturnType<typeof findChanges>>['changes'][number]

/** Texts with spaces are for people. Products of literal numbers are durations and sizes. */
const leftOut = /^['"`][^'"`]*\s|^[\d_* ]+$/

const offsetOf = (text: string, { line, column }: { line: number; column: number }): number =>
  text.split('\n', line).reduce((sum, before) => sum + before.length + 1, column)

/** Returns all possible changes of some files, and the sources in which a process can switch on one of them. */
export const findChanges = async (names: readonly string[]) => {
  const files = names.map((name) => ({ name, content: readFileSync(name, 'utf8'), mutate: true }))
  // The types refuse nearly all changes of these kinds.
  const excludedMutations = ['ArrowFunction', 'ObjectLiteral', 'OptionalChaining']
  const options = { plugins: null, ignorers: [], excludedMutations }
  const { files: instrumented, mutants } = await new Instrumenter(noopLogger).instrument(files, options)
  const changes = mutants.flatMap(({ id, fileName: file, mutatorName: kind, replacement, location, status }) => {
    const content = String(files.find(({ name }) => name === file)?.content)
    const before = content.slice(0, offsetOf(content, location.start))
    const after = content.slice(offsetOf(content, location.end))
    const original = content.slice(before.length, content.length - after.length)
    if (status === 'Ignored' || leftOut.test(original)) return []
    const label = `${file}:${location.start.line + 1} ${kind}: ${original} → ${replacement}`.replace(/\s+/g, ' ')
    // The tests run the instrumented source. The types refuse `if (…) ;`, and `!(…)` can need its parentheses.
    const changed = /^!?\(/.test(original) ? `(${replacement})` : replacement.replace(/^;$/, '{}')
    // The last declaration before the change.
    const name = before.split(/^(?:\w+\*? )*(\w+)/m).at(-2)
    return [{ id, file, kind, label, source: before + changed + after, name }]
  })
  return { changes, instrumented }
}
