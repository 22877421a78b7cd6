import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, onTestFinished } from 'vitest'
import { connect } from '../../client/src/index.ts'
import { administerJson } from '../support/administration.ts'
import { scratchDirectory } from '../support/directory.ts'
import { listenInTest } from '../support/listen.ts'
import { messages } from '../support/messages.ts'
import { test as base } from '../support/test.ts'
import { asDemo } from './support/command.ts'

const root = join(import.meta.dirname, '..', '..')
const execute = promisify(execFile)
const readReadme = () => readFile(join(root, 'client', 'README.md'), 'utf8')

/** Node 20 of this machine, if installed. The tests run on the Node of the project. */
const findNode20 = async (): Promise<string | undefined> => {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  for (const node of places.filter((place) => existsSync(place))) {
    const { stdout } = await execute(node, ['--version'])
    if (stdout.startsWith('v20.')) return node
  }
  return undefined
}
const node20 = await findNode20()

const test = base
  .extend('client', { scope: 'file' }, ({ service }) => connect({ url: service.baseUrl, token: service.token }))
  .extend('folder', async ({}) => `test ${randomUUID()}`)
  .extend('room', { scope: 'file' }, async ({}, { onCleanup }) => {
    const room = scratchDirectory(onCleanup)
    // The install command of the README, without `npm ci`, because the packages of the repository are already installed.
    const [, install = ''] = /^npm ci --prefix \.\.\/site-admin && (npm install .+)$/m.exec(await readReadme()) ?? []
    const options = { offline: 'true', audit: 'false', fund: 'false', engine_strict: 'true' }
    const settings = Object.entries(options).map(([name, value]) => [`npm_config_${name}`, value])
    await execute('bash', ['-c', install.replace('../site-admin', root)], {
      cwd: room,
      env: { ...process.env, ...Object.fromEntries(settings) },
    })
    return room
  })

/** Writes the examples of the README, and a module that runs them in order. */
const writeExamples = async (room: string): Promise<readonly string[]> => {
  const examples = [...(await readReadme()).matchAll(/^```js\n\/\/ (\w+\.mjs)\n(.*?)^```$/gms)]
  await Promise.all(examples.map(([, name = '', code = '']) => writeFile(join(room, name), code)))
  const names = examples.map(([, name = '']) => name)
  await writeFile(join(room, 'examples.mjs'), names.map((name) => `await import('./${name}')\n`).join(''))
  return names
}

test.for([
  ['the Node of the project', process.execPath],
  ['Node 20', node20],
] as const)('the package runs its README, on %s (T-30)', async ([, node], { room, service, client, skip, folder }) => {
  if (!node) return skip('This machine has no Node 20.')
  const names = ['list', 'store', 'upload', 'zip', 'forms', 'categories', 'history', 'people', 'webhooks', 'sync']
  expect(await writeExamples(room)).toStrictEqual(names.map((name) => `${name}.mjs`))
  const { exports, version } = JSON.parse(await readFile(join(root, 'client', 'package.json'), 'utf8'))
  const readme = await readReadme()
  for (const name of Object.keys(exports)) expect(readme).toContain(` from '${name.replace('.', 'site-admin-client')}'`)
  const password = 'correct horse battery'
  const owner = ['--site', '1001', '--role', 'owner', '--password-stdin']
  const name = `ann.${folder.slice(-12)}`
  await administerJson(service.directory, ['user', 'add', name, ...owner], password)
  const signIn = { SITE_ADMIN_USER: name, SITE_ADMIN_PASSWORD: password }
  const options = { cwd: room, env: { ...process.env, ...asDemo(service), ...signIn, XDG_CONFIG_HOME: room } }
  for (const welcome of [messages.client.diff(1, 0), messages.client.diff(0, 1)]) {
    const { stdout, stderr } = await execute(node, ['examples.mjs'], options)
    expect(stderr).toBe('')
    expect(stdout).toContain('Somebody else was faster: <h1>We have opened</h1>')
    expect(stdout).toContain('100 %')
    expect(stdout).toContain('opens an office')
    expect(stdout).toMatch(/Shown once: sak_\w{49}\n/)
    expect(stdout).toContain(`${welcome}\n0 failed, 0 in conflict\n`)
  }
  expect(await readFile(join(room, 'copy', 'index.html'), 'utf8')).toBe('<h1>Welcome</h1>')
  for (const directory of ['site', 'copy']) await rm(join(room, directory), { recursive: true })
  for (const stored of ['news', 'films', 'welcome']) await client.files.remove(stored)
  const command = join('node_modules', '.bin', 'site-files')
  await mkdir(join(room, folder))
  const texts = Array.from({ length: 40 }, (_, index) => `${index}.txt`)
  await Promise.all(['a.txt', ...texts].map((name) => writeFile(join(room, folder, name), 'a')))
  const pushed = await execute(node, [command, 'push', folder, folder], options)
  expect(pushed.stderr).toContain(messages.client.done(41))
  expect(pushed.stderr).not.toContain('Warning')
  expect((await execute(node, [command, 'cat', `${folder}/a.txt`], options)).stdout).toBe('a')
  const below = execute(node, [command, 'get', `${folder}/a.txt`, join('package.json', 'x', 'y')], options)
  await expect(below).rejects.toMatchObject({
    stderr: expect.stringMatching(messages.client.fileForFolder('package.json')),
  })
  expect((await execute(node, [command, '--version'], options)).stdout).toBe(`${version}\n`)
})

test('the types of the package compile with strict settings', async ({ room }) => {
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
  await writeFile(join(room, 'use.mts'), use)
  const options = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext']
  const libraries = ['--lib', 'es2022,dom,esnext.asynciterable']
  await execute(join(root, 'node_modules', '.bin', 'tsc'), [...options, ...libraries, 'use.mts'], { cwd: room })
})

test('a browser bundle of 10 kB works from another origin', async ({ browser, room, service, client, folder }) => {
  const page = `import { connect } from 'site-admin-client'
window.use = async (url, token, folder) => {
  const { files } = await connect({ url, token })
  await files.put(folder + '/small.txt', new File(['small'], 'small.txt'))
  let reported = []
  await files.put(folder + '/large.bin', new Blob([new Uint8Array(9000000)]), { onProgress: (progress) => reported.push(progress) })
  const failed = await files.put(folder + '/small.txt', 'again').catch((error) => error.name + ' ' + error.status)
  return { text: await (await files.read(folder + '/small.txt')).text(), reported: reported.at(-1), failed }
}`
  const { outputFiles } = await build({
    stdin: { contents: page, resolveDir: room },
    bundle: true,
    splitting: true,
    outdir: '/',
    entryNames: 'page',
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  const scripts = new Map(outputFiles.map(({ path, contents }) => [path, contents]))
  const atFirst = [...scripts].filter(([path]) => !/^\/(large-uploads|follow)/.test(path)).map(([, script]) => script)
  expect(atFirst.length).toBeLessThan(scripts.size)
  expect(gzipSync(Buffer.concat(atFirst), { level: 9 }).length).toBeLessThanOrEqual(10_000)

  const server = createServer(({ url = '' }, response) => {
    const script = scripts.get(url)
    response.setHeader('Content-Type', script ? 'text/javascript' : 'text/html')
    response.end(script ?? '<script type="module" src="/page.js"></script>')
  })
  const tab = await browser.newPage()
  onTestFinished(() => tab.close())
  await tab.goto(`${await listenInTest(server)}/`, { waitUntil: 'load' })
  const call = `window.use(${[service.baseUrl, service.token, folder].map((each) => JSON.stringify(each)).join(', ')})`
  expect(await tab.evaluate(call)).toStrictEqual({
    text: 'small',
    reported: { sent: 9_000_000, total: 9_000_000 },
    failed: 'ServiceError 412',
  })
  expect(await client.files.stat(`${folder}/large.bin`)).toMatchObject({ size: 9_000_000 })
})
