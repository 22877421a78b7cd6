import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { runScript } from '../cdk/run-script.ts'

// `npm run prove [-- NAME] [--count N] [--seed N] [--path N]` runs the random tests with many more cases. A failure
// prints its seed and path. With both, a run begins at the failed case.

interface Proof {
  readonly name: string
  readonly project: string
  readonly test: string
  readonly count: number
}

const proofs: readonly Proof[] = [
  { name: 'model', project: 'contract', test: 'test/contract/model/one-model-two-stores.test.ts', count: 10_000 },
  {
    name: 'interleavings',
    project: 'contract',
    test: 'test/contract/interleavings/interleavings.test.ts',
    count: 100_000,
  },
  { name: 'deliveries', project: 'long', test: 'test/contract/local/kill-deliveries.test.ts', count: 1_000 },
  { name: 'messages', project: 'contract', test: 'test/contract/aws/webhook-worker.test.ts', count: 1_000 },
  { name: 'power-cuts', project: 'long', test: 'test/power-cuts/power-cuts.test.ts', count: 10_000 },
]

const usage = `Usage: npm run prove -- [NAME...] [--count N] [--seed N] [--path N]
NAME is one of ${proofs.map(({ name }) => name).join(', ')}. Without a name, all proofs run.`

const text = { type: 'string' } as const

const prove = async (values: Partial<Record<'count' | 'seed' | 'path', string>>, names: readonly string[]) => {
  if (names.some((wanted) => proofs.every(({ name }) => name !== wanted))) {
    console.error(usage)
    return 2
  }
  const { seed = String(randomInt(2 ** 31)), path = '' } = values
  const fails = ({ project, test, count }: Proof): boolean => {
    const tries = values.count ?? String(count)
    console.log(`${test}: ${tries} times, seed ${seed}`)
    const env = { ...process.env, PROVE_COUNT: tries, PROVE_SEED: seed, PROVE_PATH: path }
    return spawnSync('vitest', ['run', '--project', project, test], { stdio: 'inherit', env }).status !== 0
  }
  const chosen = proofs.filter(({ name }) => names.length === 0 || names.includes(name))
  return chosen.filter(fails).length > 0 ? 1 : 0
}

process.exitCode = await runScript(usage, { count: text, seed: text, path: text }, prove, true)
