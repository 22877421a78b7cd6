import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { backup } from './backup.ts'
import { bundles } from './bundles.ts'
import { categories } from './categories.ts'
import { consoleInBrowser } from './console.ts'
import { costs } from './costs.ts'
import { events } from './events.ts'
import { fields } from './fields.ts'
import { history } from './history.ts'
import { importing } from './import.ts'
import { measureOneMachine } from './large/one-machine.ts'
import { measureOnS3 } from './large/s3.ts'
import { measureStreaming } from './large/streaming.ts'
import { type Bench, print } from './measure/figures.ts'
import { atEndpoint } from './measure/grounds.ts'
import { push } from './push.ts'
import { search } from './search.ts'
import { server } from './server.ts'
import { signInNames, signIns } from './sign-in.ts'
import { storage } from './storage.ts'
import { webhooks } from './webhooks.ts'

/**
 * Measures resumable uploads of large files: on one machine, to S3 in requests of the size that API Gateway allows, and
 * through the streaming function.
 */
const large: Bench = async () => [
  await measureOneMachine(),
  ...(await atEndpoint('uploads to S3 are', measureOnS3)),
  ...(await atEndpoint('streaming is', measureStreaming)),
]

// The names of `npm run bench -- NAME`.
const benches: Readonly<Record<string, Bench>> = {
  backup,
  bundles,
  categories,
  console: consoleInBrowser,
  costs,
  events,
  fields,
  history,
  import: importing,
  large,
  push,
  search,
  server,
  'sign-in': signIns,
  'sign-in-names': signInNames,
  storage,
  webhooks,
}

const machine = {
  cores: availableParallelism(),
  memoryGiB: Math.round(totalmem() / 1024 ** 3),
  platform: `${process.platform} ${process.arch}`,
  node: process.version,
}

const results = join(import.meta.dirname, 'results')

const run = async (name: string): Promise<void> => {
  const tables = (await benches[name]?.()) ?? []
  for (const table of tables) console.log(`${print(table)}\n`)
  mkdirSync(results, { recursive: true })
  const file = join(results, `${name}.json`)
  writeFileSync(file, `${JSON.stringify({ bench: name, date: new Date().toISOString(), machine, tables }, null, 2)}\n`)
  console.log(`Written to ${file}\n`)
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => !Object.hasOwn(benches, name))
if (names.length === 0 || unknown.length > 0) {
  console.error(`Usage: npm run bench -- <name>...\nBenches: ${Object.keys(benches).join(', ')}`)
  process.exitCode = 2
} else {
  for (const name of names) await run(name)
}
