import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { contentOf, put, test } from '../../../support/backups.ts'
import { phrase } from '../../../support/messages.ts'
import { storage } from '../../../support/paths.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** The lines of the first shell example below a heading. */
const scriptBelow = (file: string, heading: string): string => {
  const [, below = ''] = readFileSync(join(root, file), 'utf8').split(`\n${heading}\n`)
  const script = /```sh\n(.*?)```/s.exec(below)?.[1]
  if (script === undefined) throw new Error(`There is no example below ${heading}`)
  return script
}

test('the backup drill in the documentation reports a success or a failure', async ({ place, serve }) => {
  const bin = join(place.folder, 'bin')
  mkdirSync(bin)
  symlinkSync(join(root, 'bin', 'site-admin.js'), join(bin, 'site-admin'))
  const service = await serve(place.data)
  await put(service, 'a/large.bin', contentOf('a'))
  // The folders contain more objects than one page of a list.
  for (let folder = 0; folder < 10; folder++) {
    const body = new FormData()
    for (let file = 0; file < 100; file++) body.append('file', new Blob(['small']), `${file}.txt`)
    const { status } = await service.request(`${storage}/many/${folder}`, { method: 'POST', body })
    expect(status).toBe(200)
  }
  const environment = {
    PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter),
    TMPDIR: place.folder,
    DATA: place.data,
    // Links begin with the configured address of the service, not with the address of the request.
    BASE: service.baseUrl.replace('127.0.0.1', 'localhost'),
  }
  const drill = (token: string) =>
    promisify(execFile)('bash', ['-uo', 'pipefail', '-c', scriptBelow('docs/one-machine.md', '## A drill')], {
      env: { ...process.env, ...environment, TOKEN: token },
    })
  expect((await drill(service.token)).stdout.trim().split('\n').at(-1)).toBe('The backup is good: 1003 files.')
  const failed = await drill('none')
  expect(failed.stdout).not.toMatch(/good/)
  expect(failed.stderr).toMatch(phrase`It is not known whether the backup is good: see above.$`)
  expect(readdirSync(place.folder).filter((name) => name.startsWith('tmp.'))).toEqual([])
})
