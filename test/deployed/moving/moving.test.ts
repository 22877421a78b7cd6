import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { administerJson, jsonLines } from '../../support/administration.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { answersOfEveryList } from '../../support/every-list.ts'
import { oddRecords } from '../../support/odd-records.ts'
import { test } from '../../support/test.ts'
import { deployment } from '../support/deployment.ts'

const runFile = promisify(execFile)

const guide = await readFile('docs/moving.md', 'utf8')

/** The command lines of a program in a section of the guide. */
const linesBelow = (heading: string, program: string): readonly string[] => {
  const [, section = ''] = guide.split(`## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return own.split('\n').filter((line) => line.startsWith(program))
}

const administration = 'npm run --silent admin --'

/** Replaces programs and addresses of the guide with the programs and addresses of this test. */
const asHere = (line: string, { data, here }: Places): string =>
  line
    .replace(administration, `"${process.execPath}" "${resolve('admin/main.js')}" --json --data-dir "${data}"`)
    .replace(/^site-files/, `"${process.execPath}" "${resolve('client/dist/site-files.cjs')}"`)
    .replace('http://127.0.0.1:4000', here)
    .replace('https://us.example.com', deployment.baseUrl)

interface Places {
  readonly data: string
  readonly here: string
  readonly folder: string
}

const runLine = async (places: Places, line: string, sites: Readonly<Record<string, string>> = {}): Promise<string> => {
  const env = { ...process.env, ...sites }
  const { stdout } = await runFile('bash', ['-c', asHere(line, places)], { cwd: places.folder, env })
  return stdout
}

/** Follows the guide. Returns the number of the new site, and a token for it. */
const move = async (heading: string, places: Places, old: number) => {
  let created: number | undefined
  const tokens: string[] = []
  const lines = linesBelow(heading, administration)
  expect(lines).toHaveLength(5)
  for (const line of lines) {
    const reported = JSON.parse(await runLine(places, line, { OLD: String(old), NEW: String(created) }))
    if (line.includes('import'))
      expect(reported).toMatchObject({ imported: expect.any(Number), skipped: 0, errors: [] })
    created = line.includes('site create') ? reported.id : created
    if (reported.token) tokens.push(reported.token)
  }
  const [from = '', to = ''] = tokens
  await writeFile(join(places.folder, 'old.token'), from)
  await writeFile(join(places.folder, 'new.token'), to)
  const filesLines = linesBelow(heading, 'site-files')
  expect(filesLines).toHaveLength(2)
  for (const line of filesLines) await runLine(places, line)
  if (created === undefined) throw new Error('The guide creates no site')
  return { site: created, token: to }
}

const files = '/api/v2/admin/sites/current/storage'

const oddFiles: Readonly<Record<string, Buffer>> = {
  'empty.txt': Buffer.alloc(0),
  'a folder/50% off #1?.html': Buffer.from('<h1>Off</h1>'),
  'a folder/Cafe\u0301 \u{1f600} "x".txt': Buffer.from('coffee'),
  // The command sends this file to the bucket, in two parts.
  'large.bin': Buffer.alloc(9_000_000, 'large'),
}

const putOddFiles = async ({ baseUrl, token }: { readonly baseUrl: string; readonly token: string }) => {
  for (const [path, body] of Object.entries(oddFiles)) {
    const address = `${baseUrl}${files}/${path.split('/').map(encodeURIComponent).join('/')}`
    const answer = await fetch(address, {
      method: 'PUT',
      headers: { Authorization: token },
      body: new Uint8Array(body),
    })
    expect(answer.status).toBe(200)
  }
}

interface Listing {
  readonly contents: readonly { readonly path: string; readonly size: number; readonly fingerprint?: string }[]
}

const filesOf = async ({ baseUrl, token }: { readonly baseUrl: string; readonly token: string }) => {
  const answer = await fetch(`${baseUrl}${files}/?meta&recursive=true&limit=1000`, {
    headers: { Authorization: token },
  })
  const { contents }: Listing = JSON.parse(await answer.text())
  return contents.map(({ path, size, fingerprint }) => ({ path, size, fingerprint }))
}

test('a site moves from one machine to AWS and back', async ({ directory, start }) => {
  const here = await start()
  const records = join(directory, 'records.jsonl')
  await writeFile(records, jsonLines(oddRecords))
  await administerJson(directory, ['import', records, '--site', String(here.siteId)])
  await putOddFiles(here)
  const before = await answersOfEveryList({ baseUrl: here.baseUrl, token: here.token, site: here.siteId })
  const filesBefore = await filesOf(here)
  expect(before.size).toBeGreaterThan(20)
  expect(filesBefore.length).toBeGreaterThan(Object.keys(oddFiles).length)

  const places = async (): Promise<Places> => {
    // The folder is not in the data directory, where only the service may write.
    return { data: directory, here: here.baseUrl, folder: scratchDirectory() }
  }
  const away = await move('From one machine to AWS', await places(), here.siteId)
  expect(await answersOfEveryList({ ...away, baseUrl: deployment.baseUrl })).toEqual(before)
  expect(await filesOf({ ...away, baseUrl: deployment.baseUrl })).toEqual(filesBefore)

  const home = await move('From AWS to one machine', await places(), away.site)
  expect(home.site).not.toBe(here.siteId)
  expect(await answersOfEveryList({ ...home, baseUrl: here.baseUrl })).toEqual(before)
  expect(await filesOf({ ...home, baseUrl: here.baseUrl })).toEqual(filesBefore)
})
