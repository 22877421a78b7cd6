import { spawnSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { preparePackages, preparePython } from '../support/pinned-packages.ts'
import { type SpawnedService, startService } from '../support/spawned-service.ts'
import { tusRoom } from './tus-clients.ts'
import { useTusClients } from './tus-on-one-machine.ts'

/**
 * `npm run clients` generates a client in Python and one in TypeScript from the document of a running service, with
 * popular generators, and calls the service with both. It also uploads with public tus clients, and kills them during
 * uploads. Needs Python 3.11 or newer. The first run, and each run after a change of the pinned versions, needs the
 * network.
 */
const root = join(import.meta.dirname, '..', '..')
const folder = join(root, '.cache', 'clients')

const run = (cwd: string, program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, env: { ...process.env, ...env } })
  const printed = `${stdout ?? ''}${stderr ?? ''}`
  if (status === 0) return printed
  throw new Error(`${program} ${args[0]} failed:\n${printed}`, { cause: error })
}

/** The generator always reports these. Another omission is an operation or schema that it does not understand. */
const leftOut = ['Unsupported content type application/xml', 'Unsupported content type */*']

const checkWarnings = (printed: string) => {
  const faults = printed.split('\n').filter((line) => /^(Unsupported|Unable|Cannot|Could not|Attempted)/.test(line))
  const unknown = faults.filter((line) => !leftOut.includes(line))
  if (unknown.length > 0) throw new Error(`The Python generator does not understand the document:\n${printed}`)
}

const usePython = (document: string, { baseUrl, token, siteId }: SpawnedService) => {
  const source = join(import.meta.dirname, 'python')
  const programs = preparePython(join(folder, 'python'), join(source, 'requirements.txt'))
  const output = join(folder, 'python', 'generated')
  rmSync(output, { recursive: true, force: true })
  mkdirSync(output)
  const client = join(output, 'site_admin_client')
  const generator = join(programs, 'openapi-python-client')
  const options = ['--path', document, '--output-path', client, '--meta', 'none']
  const config = ['--config', join(source, 'generator.yaml')]
  // The generator formats the client with another program of its package.
  const withPrograms = { PATH: `${programs}:${process.env['PATH']}` }
  checkWarnings(run(output, generator, ['generate', ...options, ...config], withPrograms))
  const models = globSync('models/[!_]*.py', { cwd: client }).length
  console.log(`The Python client has ${models} models.`)
  const script = join(source, 'call_every_operation.py')
  const python = { PYTHONPATH: output, PYTHONDONTWRITEBYTECODE: '1' }
  return run(output, join(programs, 'python'), [script, document, baseUrl, token, String(siteId)], python)
}

const useTypeScript = (document: string, { baseUrl, token }: SpawnedService) => {
  const room = join(folder, 'typescript')
  preparePackages(join(import.meta.dirname, 'typescript'), room)
  rmSync(join(room, 'client'), { recursive: true, force: true })
  copyFileSync(document, join(room, 'openapi.json'))
  run(room, join(room, 'node_modules', '.bin', 'openapi-ts'), ['--silent'])
  const types = readFileSync(join(room, 'client', 'types.gen.ts'), 'utf8').match(/^export type \w+/gm) ?? []
  const ofOperations = types.filter((name) => /(Data|Errors?|Responses?)$/.test(name))
  console.log(`The TypeScript client has ${types.length - ofOperations.length} models.`)
  run(root, join('node_modules', '.bin', 'tsc'), ['--project', room])
  return run(room, process.execPath, ['use-client.ts', baseUrl, token])
}

const dataDirectory = await mkdtemp(join(tmpdir(), 'site-admin-clients-'))
const service = await startService(dataDirectory, ['--port', '0', '--quiet'])
try {
  mkdirSync(folder, { recursive: true })
  const document = join(folder, 'openapi.json')
  writeFileSync(document, await (await service.request('/openapi.json')).text())
  process.stdout.write(useTypeScript(document, service))
  // This client signs out at its end.
  process.stdout.write(usePython(document, service))
} finally {
  await service.stop()
}
try {
  await useTusClients(dataDirectory)
  run(root, join('node_modules', '.bin', 'tsc'), ['--project', tusRoom])
} finally {
  await rm(dataDirectory, { recursive: true, force: true })
}
