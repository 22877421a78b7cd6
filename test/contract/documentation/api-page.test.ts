import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect } from 'vitest'
import { test } from '../../support/test.ts'

const run = promisify(execFile)
const page = new URL('../../../docs/api.md', import.meta.url)

/** What differs from one run to the next. */
const normalised = (text: string, baseUrl = 'http://127.0.0.1:4000') =>
  text
    .replaceAll(baseUrl, 'BASE')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'REQUEST-ID')
    .replaceAll(/"lastModified":"[^"]*"/g, '"lastModified":"…"')
    .trim()

interface Example {
  readonly command: string
  readonly output: string
}

const examplesIn = (text: string): Example[] =>
  [...text.matchAll(/```console\n(.*?)```/gs)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((example) => {
        const [command = '', ...output] = example.split('\n')
        return { command, output: output.join('\n') }
      }),
  )

const mark = '----- next -----'

describe('docs/api.md', () => {
  test('shows what its commands print', async ({ service }) => {
    const examples = examplesIn(await readFile(page, 'utf8'))
    expect(examples.length).toBeGreaterThan(20)
    const script = examples.map(({ command }) => `${command}\nprintf '\\n${mark}\\n'\n`).join('')
    const env = { ...process.env, BASE: service.baseUrl, TOKEN: service.token }
    const { stdout } = await run('bash', ['-c', script], { env })
    const outputs = stdout.split(`\n${mark}\n`)
    expect(examples.map(({ command }, index) => [command, normalised(outputs[index] ?? '', service.baseUrl)])).toEqual(
      examples.map(({ command, output }) => [command, normalised(output)]),
    )
  })
})
