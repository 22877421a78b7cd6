import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { asDemo } from './support/command.ts'
import { test as base } from './support/site.ts'

const root = join(import.meta.dirname, '..', '..')
const execute = promisify(execFile)

/** A Node 20 of this machine, where there is one; the one that runs the tests is the project's own. */
const findNode20 = async (): Promise<string | undefined> => {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  for (const node of places.filter((place) => existsSync(place))) {
    const { stdout } = await execute(node, ['--version'])
    if (stdout.startsWith('v20.')) return node
  }
  return undefined
}
const node20 = await findNode20()

// biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern what a fixture needs
const test = base.extend('room', { scope: 'file' }, async ({}, { onCleanup }) => {
  const room = await mkdtemp(join(tmpdir(), 'site-admin-client-'))
  onCleanup(() => rm(room, { recursive: true, force: true }))
  const { stdout } = await execute('npm', ['pack', '--json', '--pack-destination', room], { cwd: join(root, 'client') })
  const [, name = ''] = /"filename": "([^"]+)"/.exec(stdout) ?? []
  await writeFile(join(room, 'package.json'), '{ "private": true, "type": "module" }')
  await execute('npm', ['install', '--offline', '--no-audit', '--no-fund', '--engine-strict', `./${name}`], {
    cwd: room,
  })
  return room
})

/** The examples of the README, as modules that are loaded one after the other. */
const writeExamples = async (room: string): Promise<number> => {
  const readme = await readFile(join(root, 'client', 'README.md'), 'utf8')
  const examples = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code ?? '')
  await Promise.all(examples.map((code, index) => writeFile(join(room, `example-${index}.js`), code)))
  await writeFile(
    join(room, 'examples.js'),
    `for (let i = 0; i < ${examples.length}; i++) await import(\`./example-\${i}.js\`)`,
  )
  return examples.length
}

test.for([
  ['the Node of the project', process.execPath],
  ['Node 20', node20],
] as const)(
  'packed and installed into an empty folder, the library runs the examples of its README, and the command runs, on %s',
  async ([, node], { room, service, client, skip, folder }) => {
    if (!node) return skip('This machine has no Node 20.')
    expect(await writeExamples(room)).toBe(6)
    await client.files.remove('news').catch(() => {})
    await client.files.remove('films').catch(() => {})
    const options = { cwd: room, env: { ...process.env, ...asDemo(service), XDG_CONFIG_HOME: room } }
    const { stdout, stderr } = await execute(node, ['examples.js'], options)
    expect(stderr).toBe('')
    expect(stdout).toContain('Somebody else was faster: <h1>We have opened</h1>')
    expect(stdout).toContain('100 %')
    expect(stdout).toContain('opens an office')
    const command = join('node_modules', '.bin', 'site-files')
    await mkdir(join(room, folder))
    const names = Array.from({ length: 40 }, (_, index) => `${index}.txt`)
    await Promise.all(['a.txt', ...names].map((name) => writeFile(join(room, folder, name), 'a')))
    const pushed = await execute(node, [command, 'push', folder, folder], options)
    expect(pushed.stderr).toContain('Done: 41 created')
    expect(pushed.stderr).not.toContain('Warning')
    expect((await execute(node, [command, 'cat', `${folder}/a.txt`], options)).stdout).toBe('a')
    const { version } = JSON.parse(await readFile(join(root, 'client', 'package.json'), 'utf8'))
    expect((await execute(node, [command, '--version'], options)).stdout).toBe(`${version}\n`)
  },
)

test.for([process.execPath, node20])(
  'packed and installed, everything that the package exports is there, and pushes and pulls (%s)',
  async (node, { room, service, client, skip, folder }) => {
    if (!node) return skip('This machine has no Node 20.')
    const { exports } = JSON.parse(await readFile(join(root, 'client', 'package.json'), 'utf8'))
    const modules = Object.keys(exports).map((name) => name.replace('.', 'site-admin-client'))
    const use = `for (const name of ${JSON.stringify(modules)}) await import(name)
const { connect } = await import('site-admin-client')
const { push, pull } = await import('site-admin-client/sync')
const client = await connect({ url: process.env.SITE_ADMIN_URL, token: process.env.SITE_ADMIN_TOKEN })
const [directory, there, folder] = process.argv.slice(2)
await push({ client, directory, folder })
console.log((await pull({ client, directory: there, folder })).create)`
    await writeFile(join(room, 'sync.js'), use)
    const [here, there] = [join(room, folder), join(room, `${folder}-there`)]
    await mkdir(here, { recursive: true })
    await mkdir(there)
    await writeFile(join(here, 'a.txt'), 'a')
    await writeFile(join(here, 'b.txt'), 'b')
    await writeFile(join(here, '.siteignore'), 'b.*\n.siteignore\n')
    const options = { cwd: room, env: { ...process.env, ...asDemo(service) } }
    expect(await execute(node, ['sync.js', here, there, folder], options)).toStrictEqual({ stdout: '1\n', stderr: '' })
    expect((await client.files.stat(`${folder}/a.txt`)).size).toBe(1)
  },
)

test('the types of the package are those of the library, for a strict compiler', async ({ room }) => {
  const use = `import { connect, ServiceError, type SiteClient } from 'site-admin-client'
import { openFile } from 'site-admin-client/node'
import { plan } from 'site-admin-client/sync'
const client: SiteClient = await connect({ url: '', token: '' })
for await (const field of client.forms.fields(1)) console.log(field.type.name.length)
await client.files.put('a', await openFile('a'), { replace: true })
// @ts-expect-error a condition is a tag or true
await client.files.put('a', 'a', { replace: 1 })
console.log(plan(new Map(), new Map(), undefined, { direction: 'push' }), ServiceError)
`
  await writeFile(join(room, 'use.ts'), use)
  const config = {
    compilerOptions: {
      target: 'es2022',
      lib: ['es2022', 'dom', 'esnext.asynciterable'],
      module: 'nodenext',
      strict: true,
      noEmit: true,
      types: [],
    },
    include: ['use.ts'],
  }
  await writeFile(join(room, 'tsconfig.json'), JSON.stringify(config))
  await execute(join(root, 'node_modules', '.bin', 'tsc'), ['--project', room])
})

test('in a browser, on a page of another origin, a bundle of 12 kB at the most connects, uploads and reads', async ({
  room,
  service,
  client,
  folder,
}) => {
  const page = `import { connect } from 'site-admin-client'
window.use = async (url, token, folder) => {
  const { files } = await connect({ url, token })
  await files.put(folder + '/small.txt', new File(['small'], 'small.txt'))
  let told = []
  await files.put(folder + '/large.bin', new Blob([new Uint8Array(5000000)]), { onProgress: (progress) => told.push(progress) })
  const failed = await files.put(folder + '/small.txt', 'again').catch((error) => error.name + ' ' + error.status)
  return { text: await (await files.read(folder + '/small.txt')).text(), told: told.at(-1), failed }
}`
  const { outputFiles } = await build({
    stdin: { contents: page, resolveDir: room },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  const script = outputFiles[0]?.contents ?? new Uint8Array()
  expect(gzipSync(script, { level: 9 }).length).toBeLessThanOrEqual(12_000)

  const server = createServer(({ url }, response) => {
    const isScript = url === '/page.js'
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<script type="module" src="/page.js"></script>')
  }).listen(0, '127.0.0.1')
  const browser = await launchBrowser()
  try {
    const tab = await browser.newPage()
    await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { waitUntil: 'load' })
    const call = `window.use(${[service.baseUrl, service.token, folder].map((each) => JSON.stringify(each)).join(', ')})`
    expect(await tab.evaluate(call)).toStrictEqual({
      text: 'small',
      told: { sent: 5_000_000, total: 5_000_000 },
      failed: 'ServiceError 412',
    })
  } finally {
    await browser.close()
    server.close()
  }
  expect(await client.files.stat(`${folder}/large.bin`)).toMatchObject({ size: 5_000_000 })
})
