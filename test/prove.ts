import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

// `npm run prove [-- --count N] [--seed N] [--path N]`: tries by chance, many times, what `npm test` tries a few times. A
// failure prints both; with them it begins at the case that failed.

interface Proof {
  readonly test: string
  readonly count: number
}

const proofs: readonly Proof[] = [{ test: 'test/contract/model/one-model-two-stores.test.ts', count: 10_000 }]

const option = { type: 'string' } as const
const { values } = parseArgs({ options: { count: option, seed: option, path: option } })
const { seed = String(randomInt(2 ** 31)), path = '' } = values

const fails = ({ test, count }: Proof): boolean => {
  const tries = values.count ?? String(count)
  console.log(`${test}: ${tries} times, seed ${seed}`)
  const env = { ...process.env, PROVE_COUNT: tries, PROVE_SEED: seed, PROVE_PATH: path }
  return spawnSync('vitest', ['run', '--project', 'contract', test], { stdio: 'inherit', env }).status !== 0
}

process.exitCode = proofs.filter(fails).length > 0 ? 1 : 0
