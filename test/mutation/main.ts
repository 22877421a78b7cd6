import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { changesOf, type SourceChange } from './changes.ts'

/**
 * Would the tests notice? Makes single changes to the source, in a copy of it, and runs the tests that have to do with the file. A seed
 * picks the same changes every time: first the kind, then the place, so that no kind outweighs the others.
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
/** A change that makes tests run without end is noticed as well; in milliseconds. */
const patience = 300_000

/** The examples of the document, lists of what there is, and entries that run on Lambda only are no rules. */
const isLeftOut = (file: string) => /\.doc\.ts$|\/(contract|docs|(\w+-)?handler|register-data-centre)\.ts$/.test(file)

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

/** Whether a test that has to do with the file fails; the first one ends it. */
const isNoticed = (copy: string, file: string): Promise<boolean> => {
  const runner = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const options = ['--run', '--bail=1', '--passWithNoTests', '--project=unit', '--project=contract']
  const tests = spawn(process.execPath, [runner, 'related', file, ...options], {
    cwd: copy,
    detached: true,
    stdio: 'ignore',
  })
  return new Promise((resolve, reject) => {
    const end = () => tests.pid && process.kill(-tests.pid, 'SIGKILL')
    const timer = setTimeout(end, patience)
    tests.once('error', reject)
    tests.once('exit', (code) => {
      clearTimeout(timer)
      resolve(code !== 0)
    })
  })
}

const show = ({ file, line, kind, from, to }: SourceChange) => `${file}:${line}  ${kind}: ${from.trim()} → ${to.trim()}`

const changes = sample(Number(flags.count), Number(flags.seed))
const copy = copyTree()
const survivors: SourceChange[] = []
try {
  for (const [index, change] of changes.entries()) {
    const original = readFileSync(join(copy, change.file))
    writeFileSync(join(copy, change.file), change.source)
    const noticed = await isNoticed(copy, change.file)
    writeFileSync(join(copy, change.file), original)
    if (!noticed) survivors.push(change)
    console.log(`${index + 1}/${changes.length} ${noticed ? 'noticed ' : 'SURVIVED'} ${show(change)}`)
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}

const share = ((1 - survivors.length / changes.length) * 100).toFixed(1)
console.log(`\n${changes.length - survivors.length} of ${changes.length} noticed: ${share} %. Who survived:`)
for (const survivor of survivors) console.log(show(survivor))
