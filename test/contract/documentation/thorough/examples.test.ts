import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { test } from '../../../support/test.ts'

const run = promisify(execFile)
const read = (page: string) => readFile(new URL(`../../../../${page}`, import.meta.url), 'utf8')

/** The pages with examples, each with the heading above the examples and the least number of examples. */
const pages = [
  ['README.md', '## Try it', 5],
  ['docs/api.md', '# The API by example', 40],
] as const

const sectionOf = (text: string, heading: string): string => {
  const [, section = ''] = text.split(`${heading}\n`)
  const [level] = heading.split(' ')
  return section.split(`\n${level} `)[0] ?? ''
}

/** The text without ids, times and addresses, which differ between runs. */
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

test.for(pages)('in %s, each command prints what is below', async ([page, heading, fewest], { service, directory }) => {
  const examples = examplesIn(sectionOf(await read(page), heading))
  expect(examples.length).toBeGreaterThanOrEqual(fewest)
  const script = examples.map(({ command }) => `${command}\nprintf '\\n${mark}\\n'\n`).join('')
  const env = { ...process.env, BASE: service.baseUrl, TOKEN: service.token, TMPDIR: directory }
  const { stdout } = await run('bash', ['-c', script], { env })
  const outputs = stdout.split(`\n${mark}\n`)
  expect(examples.map(({ command }, index) => [command, normalised(outputs[index] ?? '', service.baseUrl)])).toEqual(
    examples.map(({ command, output }) => [command, normalised(output)]),
  )
})
