import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { changesOf, type SourceChange } from './changes.ts'
import { createNearestTests } from './nearest-tests.ts'
import { type Circle, createWitnesses } from './notice.ts'

/**
 * Would the tests notice? Makes single changes to the source, in a copy of it, and runs the tests that have to do with
 * the file. A seed picks the same changes every time: first the kind, then the place, so that no kind outweighs the
 * others.
 */
const { values: flags } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: '12' },
    /** What the paths of changed files begin with. */
    in: { type: 'string', default: '' },
  },
})

const root = join(import.meta.dirname, '..', '..')

/** The examples of the document, lists of what there is, and entries that run on Lambda only are no rules. */
const isLeftOut = (file: string) =>
  /\.doc\.ts$|\/(contract(-\w+)?|docs|(\w+-)?handler|register-data-centre)\.ts$/.test(file)

const trackedFiles = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
const sources = trackedFiles.filter(
  (file) => /^(lib|functions)\/.*\.ts$/.test(file) && file.startsWith(flags.in) && !isLeftOut(file),
)

/** Numbers from 0 up to 1 that are the same for the same seed (mulberry32). */
const createRandom = (seed: number) => {
  let state = seed
  return (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const sample = (count: number, seed: number): SourceChange[] => {
  const random = createRandom(seed)
  const all = sources.flatMap((file) => changesOf(file, readFileSync(join(root, file), 'utf8')))
  const kinds = [...Map.groupBy(all, ({ kind }) => kind).values()]
  const chosen: SourceChange[] = []
  while (chosen.length < count && kinds.length > 0) {
    const at = Math.floor(random() * kinds.length)
    const kind = kinds[at] ?? []
    chosen.push(...kind.splice(Math.floor(random() * kind.length), 1))
    if (kind.length === 0) kinds.splice(at, 1)
  }
  return chosen
}

const copyTree = (): string => {
  const copy = mkdtempSync(join(tmpdir(), 'site-admin-changed-'))
  for (const file of trackedFiles) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file))
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

const show = ({ file, line, kind, from, to }: SourceChange) => `${file}:${line}  ${kind}: ${from.trim()} → ${to.trim()}`

const changes = sample(Number(flags.count), Number(flags.seed))
const copy = copyTree()
const witnesses = createWitnesses(copy, createNearestTests(copy, trackedFiles))

/** Answers who is left: the changes that no test of a circle notices. */
const findSurvivors = async (asked: readonly SourceChange[], circle: Circle): Promise<readonly SourceChange[]> => {
  const survivors: SourceChange[] = []
  for (const [index, change] of asked.entries()) {
    const began = performance.now()
    const witness = await witnesses.find(change, circle)
    if (!witness) survivors.push(change)
    const verdict = witness ? `noticed by ${witness}` : `not noticed by the ${circle} tests`
    const time = `${Math.round(performance.now() - began)} ms`
    console.log(`${index + 1}/${asked.length}  ${show(change)}  ${verdict}, ${time}`)
  }
  return survivors
}

try {
  const survivors = await findSurvivors(await findSurvivors(changes, 'near'), 'far')
  const share = ((1 - survivors.length / changes.length) * 100).toFixed(1)
  console.log(`\n${changes.length - survivors.length} of ${changes.length} noticed: ${share} %. Who survived:`)
  for (const survivor of survivors) console.log(show(survivor))
} finally {
  await witnesses.stop()
  rmSync(copy, { recursive: true, force: true })
}
