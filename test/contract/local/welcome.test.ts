import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { launch, type Program } from '../../support/program.ts'
import { test } from '../../support/test.ts'

const sh = (script: string) => promisify(execFile)('sh', ['-c', script])

const readWelcome = async (program: Program): Promise<string[]> => {
  const lines: string[] = []
  do lines.push(await program.line())
  while (!lines.at(-1)?.startsWith('Stop it'))
  return lines
}

test('people see where the service is, the token, and lines that work when pasted', async ({ directory }) => {
  const program = launch('local/main.js', ['--port', '0', '--data-dir', directory])
  try {
    const lines = await readWelcome(program)
    const baseUrl = /^site-admin is ready at (http:\/\/127\.0\.0\.1:\d+)$/.exec(lines[0] ?? '')?.[1]
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
    const [, url] = /^Data centre eu is at (http:\/\/127\.0\.0\.1:\d+)$/.exec(second ?? '') ?? []
    expect((await fetch(`${url}/health`)).status).toBe(200)
  } finally {
    program.kill('SIGTERM')
    await program.ended
  }
})
