import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { administerJson } from '../../../support/administration.ts'
import { messages } from '../../../support/messages.ts'
import { storage } from '../../../support/paths.ts'
import { launch, startInShell } from '../../../support/program.ts'
import { test as base } from '../../../support/test.ts'

const sh = (script: string) => promisify(execFile)('sh', ['-c', script])

/** Starts the service for people, without `--json`, and reads its welcome. */
const test = base.extend('welcome', async ({ directory }, { onCleanup }) => async (...flags: readonly string[]) => {
  const program = launch('local/main.js', ['--data-dir', directory, ...flags])
  onCleanup(async () => {
    program.kill('SIGTERM')
    await program.ended
  })
  const lines: string[] = []
  do lines.push(await program.line())
  while (!lines.at(-1)?.startsWith('Stop it'))
  return lines
})

test('The start prints the address, the token, and commands that work (K-4)', async ({ welcome }) => {
  const lines = await welcome('--port', '0')
  const baseUrl = messages.start.ready('(http://(\\S+))', '\\2').exec(lines[0] ?? '')?.[1]
  const token = lines.map((line) => /^Token {2}([0-9a-f]{64})$/.exec(line)?.[1]).find(Boolean)
  expect(lines).toContain(`${baseUrl}/console#token=${token}`)

  const pasted = lines.filter((line) => line.startsWith('  '))
  const [setting = '', ...curls] = pasted
  const answers: string[] = []
  for (const line of curls) answers.push((await sh(`${setting}\n${line} -w '\\n%{http_code}'`)).stdout)
  const statuses = answers.map((answer) => answer.split('\n').at(-1))
  expect(statuses).toEqual(['200', '200', '201', '200', '200', '200', '200', '201', '204'])
  expect(JSON.parse(answers[0]?.split('\n')[0] ?? '')).toMatchObject({ totalItemsCount: 2 })
  expect(answers[3]).toContain('<name>CustomerDOB</name>')
  expect(JSON.parse(answers[6]?.split('\n')[0] ?? '').items.length).toBeGreaterThan(1)
  expect((await sh(pasted.join('\n'))).stdout).toContain('CustomerDOB')
})

const firstPerson = (lines: readonly string[]) => lines.find((line) => line.startsWith(messages.start.firstPerson))

test('The start prints a command that adds the first person (A-102)', async ({ welcome }) => {
  const command = firstPerson(await welcome('--port', '0'))?.slice(messages.start.firstPerson.length) ?? ''
  expect((await sh(command.replace('NAME', 'ann'))).stdout).toContain('#invitation=ann.')
})

test('The start prints no command to add a person if the site has one', async ({ demoDirectory, welcome }) => {
  await administerJson(demoDirectory, ['user', 'add', 'ann', '--site', '1001', '--role', 'owner'])
  expect(firstPerson(await welcome('--port', '0'))).toBeUndefined()
})

test.for([
  [['--data-centres', 'us:0,eu:0'], messages.start.dataCentre('eu')],
  [['--port', '0', '--base-url', 'https://sites.example'], messages.start.ready('https://sites.example')],
] as const)('The start with %j prints the address of each data centre', async ([flags, line], { welcome }) => {
  const [, address] = line.exec((await welcome(...flags)).join('\n')) ?? []
  expect((await fetch(`http://${address}/health`)).status).toBe(200)
})

test('Without a demo, the start prints commands that create the first site', async ({ welcome, directory }) => {
  const lines = await welcome('--port', '0', '--no-demo', '--data-dir', join(directory, "ann's data"))
  const [makeSite = '', issueToken = ''] = lines.filter((line) => line.startsWith('  '))
  const id = /^(\d+) /m.exec((await sh(makeSite)).stdout)?.[1] ?? ''
  const [token = ''] = /^[0-9a-f]{64}/m.exec((await sh(issueToken.replace('ID', id))).stdout) ?? []
  const base = / at (\S+)/.exec(lines[0] ?? '')?.[1]
  const headers = { Authorization: token }
  expect((await fetch(`${base}${storage}/hello.txt`, { method: 'PUT', body: 'Hello', headers })).status).toBe(200)
})

test('The service unit in the documentation logs the address without a token (O-5)', async ({ directory }) => {
  const [, unit = ''] = /```ini\n(\[Unit\].*?)```/s.exec(readFileSync('docs/one-machine.md', 'utf8')) ?? []
  const line = /^ExecStart=\S+\/site-admin (.*)$/m.exec(unit)?.[1] ?? ''
  expect(unit).toMatch(/^StandardError=journal$/m)
  const output = unit.includes('StandardOutput=null') ? '/dev/null' : '&2'
  const [data, journal] = ['data', 'journal'].map((name) => join(directory, name))
  const command = `exec "$node" bin/site-admin.js ${line.replace('/var/lib/site-admin', '"$1"')} --port 0`
  const program = startInShell(`${command} 2>"$2" >${output}`, [data ?? '', journal ?? ''])
  const lines = () => readFileSync(journal ?? '', 'utf8').split('\n')
  try {
    await expect.poll(lines).toHaveLength(2)
    const ready = messages.start.ready('https://sites.example', '127\\.0\\.0\\.1:\\d+')
    expect(JSON.parse(lines()[0] ?? '')).toEqual({ time: expect.anything(), message: expect.stringMatching(ready) })
  } finally {
    program.kill('SIGTERM')
    await program.ended
  }
})
