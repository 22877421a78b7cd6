import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { launch, type Program, startInShell } from '../../../support/program.ts'
import { test } from '../../../support/test.ts'

const sh = (script: string) => promisify(execFile)('sh', ['-c', script])

const readWelcome = async (program: Program): Promise<string[]> => {
  const lines: string[] = []
  do lines.push(await program.line())
  while (!lines.at(-1)?.startsWith('Stop it'))
  return lines
}

test('people see where the service is, the token, and lines that work when pasted (K-4)', async ({ directory }) => {
  const program = launch('local/main.js', ['--port', '0', '--data-dir', directory])
  try {
    const lines = await readWelcome(program)
    const baseUrl = /^site-admin is ready at (http:\/\/(\S+)) \(listening on \2\)$/.exec(lines[0] ?? '')?.[1]
    const token = lines.map((line) => /^Token {2}([0-9a-f]{64})$/.exec(line)?.[1]).find(Boolean)
    expect(baseUrl).toBeDefined()
    expect(token).toBeDefined()

    expect(lines).toContain(`${baseUrl}/console#token=${token}`)

    const pasted = lines.filter((line) => line.startsWith('  '))
    const [setting = '', ...curls] = pasted
    const answers: string[] = []
    for (const line of curls) {
      const { stdout } = await sh(`${setting}\n${line} -w '\\n%{http_code}'`)
      answers.push(stdout)
    }
    const statuses = answers.map((answer) => answer.split('\n').at(-1))
    expect(statuses).toEqual(['200', '200', '201', '200', '200', '200', '200', '201', '204'])
    expect(JSON.parse(answers[0]?.split('\n')[0] ?? '')).toMatchObject({ totalItemsCount: 2 })
    expect(answers[3]).toContain('<name>CustomerDOB</name>')
    expect(JSON.parse(answers[6]?.split('\n')[0] ?? '').items.length).toBeGreaterThan(1)

    const whole = await sh(pasted.join('\n'))
    expect(whole.stdout).toContain('CustomerDOB')
  } finally {
    program.kill('SIGTERM')
    await program.ended
  }
})

test('people see where the other data centres are', async ({ directory }) => {
  const program = launch('local/main.js', ['--data-centres', 'us:0,eu:0', '--data-dir', directory])
  try {
    const [, second] = await readWelcome(program)
    const [, url] = /^Data centre eu is at (http:\/\/(\S+)) \(listening on \2\)$/.exec(second ?? '') ?? []
    expect((await fetch(`${url}/health`)).status).toBe(200)
  } finally {
    program.kill('SIGTERM')
    await program.ended
  }
})

test('people without a demo see commands that make their first site', async ({ directory }) => {
  const program = launch('local/main.js', ['--port', '0', '--no-demo', '--data-dir', join(directory, "ann's data")])
  try {
    const lines = await readWelcome(program)
    const [makeSite = '', issueToken = ''] = lines.filter((line) => line.startsWith('  '))
    const made = await sh(makeSite)
    const id = /^(\d+) /m.exec(made.stdout)?.[1] ?? ''
    const issued = await sh(issueToken.replace('ID', id))
    const [token = ''] = /^[0-9a-f]{64}/m.exec(issued.stdout) ?? []
    const base = / at (\S+)/.exec(lines[0] ?? '')?.[1]
    const url = `${base}/api/v2/admin/sites/current/storage/hello.txt`
    const answer = await fetch(url, { method: 'PUT', body: 'Hello', headers: { Authorization: token } })
    expect(answer.status).toBe(200)
  } finally {
    program.kill('SIGTERM')
    await program.ended
  }
})

test('the documented unit tells the journal where the service is, and no token (O-5)', async ({ directory }) => {
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
    const ready = /^site-admin is ready at https:\/\/sites\.example \(listening on 127\.0\.0\.1:\d+\)$/
    expect(JSON.parse(lines()[0] ?? '')).toEqual({ time: expect.anything(), message: expect.stringMatching(ready) })
  } finally {
    program.kill('SIGTERM')
    await program.ended
  }
})

test('people see the base URL and the address that a proxy has to call', async ({ directory }) => {
  const flags = ['--port', '0', '--base-url', 'https://sites.example', '--data-dir', directory]
  const program = launch('local/main.js', flags)
  try {
    const [first = ''] = await readWelcome(program)
    const [, address] = /^site-admin is ready at https:\/\/sites\.example \(listening on (.+)\)$/.exec(first) ?? []
    expect((await fetch(`http://${address}/health`)).status).toBe(200)
  } finally {
    program.kill('SIGTERM')
    await program.ended
  }
})
