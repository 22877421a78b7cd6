import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { administer, administerJson } from '../../../support/administration.ts'
import { messages, wrongFlags } from '../../../support/messages.ts'
import { failing } from '../../../support/outcomes.ts'
import { fields, news } from '../../../support/paths.ts'
import { run, startInShell } from '../../../support/program.ts'
import { requestsTo } from '../../../support/spawned-service.ts'
import { test } from '../../../support/test.ts'

const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`

/** Every line of a log in JSON. */
const linesOf = (stderr: string) => {
  expect(stderr).toMatch(/\n$/)
  return stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Makes the process run this code when it receives a stop signal, before the service stops. */
const onStop = (statement: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,process.on('SIGTERM',()=>{${encodeURIComponent(statement)}})`,
})

describe('with --log json, every line on standard error is a JSON object (O-8)', () => {
  const large = '/api/v2/admin/sites/current/storage/large'
  const flags = ['--port', '0', '--log', 'json']
  const logged = (message: unknown, error?: string) => ({
    time: expect.stringMatching(new RegExp(`^${time}$`)),
    message,
    ...(error !== undefined && {
      error: { name: expect.any(String), message: error, stack: expect.stringContaining(error) },
    }),
  })
  const ready = logged(expect.stringMatching(messages.start.ready('.+')))

  test('lines of a start on damaged data, a warning and the stop are JSON', async ({ start, directory }) => {
    const first = await start()
    await first.request(large, { method: 'PUT', body: 'x'.repeat(40_000) })
    await first.stop()
    await rm(join(directory, 'blobs'), { recursive: true })
    const service = await start(flags, onStop('process.emitWarning("careful")'))
    expect((await service.request(large)).status).toBe(500)
    const { status, stderr } = await service.stop()
    expect(status).toBe(0)
    const lines = [
      logged(expect.stringMatching(messages.directory.filesDamaged)),
      ready,
      expect.objectContaining({ path: large, status: 500, error: expect.objectContaining({ name: 'Error' }) }),
      logged('careful', 'careful'),
    ]
    expect(linesOf(stderr)).toEqual(expect.arrayContaining(lines))
    expect(linesOf(stderr)).toHaveLength(lines.length)
  })

  test.for([
    ['does not stop cleanly', '', 'The service did not stop cleanly:'],
    ['fails', 'throw new Error("out of the blue")', 'The service failed:'],
  ] as const)('lines of a service that %s are JSON', async ([, statement, message], { start, directory }) => {
    const service = await start(flags, onStop(statement))
    await rm(join(directory, 'locks'), { recursive: true })
    const { status, stderr } = await service.stop()
    expect(status).toBe(1)
    const failure = expect.objectContaining({ message, error: expect.anything() })
    expect(linesOf(stderr)).toEqual(expect.arrayContaining([ready, failure]))
  })

  test.for([
    ['local/main.js', [], messages.directory.inUse],
    ['admin/main.js', ['serve', '--port', 'http'], /^error: option '--port <number>' argument 'http' is invalid\. /],
    ['admin/main.js', ['serve', '--data-centres', 'us:0'], 'Give --port or --data-centres, not both'],
    ['admin/main.js', ['serve', '--json', '--data-centres', 'us:0'], /^Give --port or --data-centres, not both/],
  ] as const)('lines about a refused %s %j are JSON', async ([entry, words, message], { start, directory }) => {
    await start()
    const { status, stdout, stderr } = await run(entry, ['--data-dir', directory, ...words, ...flags])
    expect(status).toBeGreaterThan(0)
    expect(stdout).toBe('')
    expect(linesOf(stderr)[0]).toEqual(logged(expect.stringMatching(message)))
  })
})

test('--json prints one JSON object with everything that a program needs (O-6)', async ({ start }) => {
  const service = await start()
  expect(JSON.parse(service.line)).toMatchObject({
    baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    dataCentres: { us: service.baseUrl },
    siteId: 1001,
    webFormId: 1,
    token: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect((await service.request(fields)).status).toBe(200)

  const { stdout } = await service.stop()
  expect(stdout).toBe(`${service.line}\n`)
})

test('the log has one line for each request, without token and query (O-8)', async ({ start }) => {
  const service = await start()
  await service.request(`${fields}?secret=hush`)
  const { stderr } = await service.stop()
  expect(stderr).toMatch(new RegExp(`^${time} GET ${fields} 200 [\\d.]+ ms [\\w-]+\\n$`))
  expect(stderr).not.toContain(service.token)
  expect(stderr).not.toContain('hush')
})

test('--help lists every flag and ends with status 0 (O-2)', async () => {
  const { status, stdout } = await run('local/main.js', ['--help'])
  expect(status).toBe(0)
  const flags = 'host port base-url data-dir data-centres tls-cert tls-key reset yes no-demo json quiet log help'
  for (const flag of flags.split(' ')) {
    expect(stdout).toContain(`--${flag}`)
  }
})

test('--log json logs each request as one object in a line', async ({ start }) => {
  const service = await start(['--port', '0', '--log', 'json'])
  const { headers } = await service.request(`${fields}?secret=hush`)
  await service.request('/no/such/path')
  const { stderr } = await service.stop()
  const [, first, second] = linesOf(stderr)
  expect(first).toEqual({
    time: expect.stringMatching(new RegExp(`^${time}$`)),
    method: 'GET',
    path: fields,
    status: 200,
    milliseconds: expect.any(Number),
    requestId: headers.get('x-request-id'),
    operation: 'listFields',
    site: 1001,
    token: hash('sha256', service.token, 'hex').slice(0, 8),
  })
  expect(second).toMatchObject({ path: '/no/such/path', status: 404, site: null })
  expect(stderr).not.toContain(service.token)
  expect(stderr).not.toContain('hush')
})

/** Nobody reads the log until the test opens the gate. */
const withSlowReader = 'exec "$node" local/main.js --json --port 0 --data-dir "$1" 2> >(read -r < "$2"; exec cat >&2)'

test.for([
  ['stops', 0],
  ['cannot stop cleanly', 1],
] as const)('a service that %s writes its whole log (O-8)', async ([, status], { directory }) => {
  const [data, gate] = [join(directory, 'data'), join(directory, 'gate')]
  execFileSync('mkfifo', [gate])
  const program = startInShell(withSlowReader, [data, gate])
  const { baseUrl } = JSON.parse(await program.line())
  const numbers = Array.from({ length: 60 }, (_, index) => `${index}`)
  for (const number of numbers) await fetch(`${baseUrl}/${number}/${'x'.repeat(15_000)}`)
  if (status === 1) await rm(join(data, 'locks'), { recursive: true })
  program.kill('SIGTERM')
  await expect.poll(() => fetch(baseUrl).catch(() => 'closed')).toBe('closed')
  await writeFile(gate, 'open\n')
  const outcome = await program.ended
  const written = Array.from(outcome.stderr.matchAll(/ GET \/(\d+)\//g), ([, number]) => number)
  expect({ status: outcome.status, written }).toEqual({ status, written: numbers })
})

test.for(['0.0.0.0', '0'])('--host %s prints an address that can be reached', async (host, { start }) => {
  const { baseUrl, request } = await start(['--port', '0', '--host', host])
  expect(baseUrl).not.toMatch(/\/\/0[.:]/)
  expect((await request('/health')).status).toBe(200)
  const { port } = new URL(baseUrl)
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
})

test('--base-url is in the first line and in links, with any port (C-42, O-3)', async ({ start, directory }) => {
  const { line, token } = await start(['--port', '0', '--base-url', 'https://files.example/base/'])
  const { baseUrl, dataCentres, listening } = JSON.parse(line)
  const request = requestsTo(`http://${listening?.us}`, token)
  const { status, headers } = await request(news, { method: 'POST', body: '{"items":[{"objectId":40}]}' })
  expect({ baseUrl, dataCentres, status, location: headers.get('location') }).toEqual({
    baseUrl: 'https://files.example/base',
    dataCentres: { us: 'https://files.example/base' },
    status: 201,
    location: `/base${news}`,
  })
  const listed = await administerJson(directory, ['data-centre', 'list'])
  expect(listed).toMatchObject([{ id: 'us', url: 'https://files.example/base' }])
})

test('each data centre may have a base URL (O-3)', async ({ start }) => {
  const urls = 'us=https://us.example,eu=https://eu.example'
  const { dataCentres } = await start(['--data-centres', 'us:0,eu:0', '--base-url', urls])
  expect(dataCentres).toEqual({ us: 'https://us.example', eu: 'https://eu.example' })
})

test('--no-demo creates neither site nor token', async ({ start, directory }) => {
  const service = await start(['--port', '0', '--no-demo'])
  expect(JSON.parse(service.line)).toEqual({ baseUrl: service.baseUrl, dataCentres: service.dataCentres })
  expect(await administerJson(directory, ['site', 'list'])).toEqual([])
  expect(await administerJson(directory, ['token', 'list'])).toEqual([])
  expect(await readdir(directory)).not.toContain('demo.json')
})

test('--no-demo does not print the token of an existing demo', async ({ start }) => {
  const { token, stop } = await start()
  await stop()
  expect((await start(['--port', '0', '--no-demo'])).line).not.toContain(token)
})

test.for([
  ['--port 65536', 'Add --help to see the usage.\n'],
  ['--verbose', 'Add --help to see the usage.\n'],
  ['--host 192.0.2.1 --port 0', ''],
  ['--host no.such.host.invalid --port 0', ''],
] as const)('npm start refuses %j with one error, and ends with status 1', async ([flags, hint], { directory }) => {
  const outcome = await run('local/main.js', ['--data-dir', directory, ...flags.split(' ')])
  expect(outcome).toMatchObject(failing(new RegExp(`^.+\\n${hint}$`)))
})

test.for(wrongFlags)('npm start refuses %j', async ([flags, complaint], { directory }) => {
  const { status, stdout, stderr } = await administer(directory, ['serve', ...flags.split(' ')])
  expect(status).toBeGreaterThan(0)
  expect({ stdout, files: await readdir(directory) }).toEqual({ stdout: '', files: [] })
  expect(stderr).toContain(complaint)
})

test.for([
  ['--port', '4000\u001b[2J\n'],
  ['--host', '192.0.2.1\n\u001b[2J'],
  ['--data-dir', 'notes\n\u001b[2J'],
])('npm start refuses %j %j with printable characters only', async ([flag = '', value = ''], { directory }) => {
  const folder = join(directory, value)
  await mkdir(folder)
  await writeFile(join(folder, 'notes.txt'), 'mine')
  const args = ['--data-dir', join(directory, 'data'), '--port', '0', flag, flag === '--data-dir' ? folder : value]
  const { status, stderr } = await run('local/main.js', args)
  expect(status).toBe(1)
  expect(stderr.replace('Add --help to see the usage.\n', '')).toMatch(/^\P{Cc}*\\u\{1b\}\[2J\P{Cc}*\n$/u)
})
