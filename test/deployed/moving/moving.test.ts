import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { administerJson } from '../../support/administration.ts'
import { answersOfEveryList } from '../../support/every-list.ts'
import { oddRecords } from '../../support/odd-records.ts'
import { test } from '../../support/test.ts'
import { deployment } from '../support/deployment.ts'

const runFile = promisify(execFile)

const guide = await readFile('docs/moving.md', 'utf8')

/** The lines of a section of the guide that move data, as people type them. */
const linesBelow = (heading: string): readonly string[] => {
  const [, section = ''] = guide.split(`## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return own.match(/^npm run --silent admin -- .*$/gm) ?? []
}

/** Runs such a line on a data directory, or on what is deployed, and answers what it prints. */
const runLine = async (directory: string, line: string, sites: Readonly<Record<string, string>>) => {
  const program = `"${process.execPath}" admin/main.js --json --data-dir "${directory}"`
  const command = line
    .replace('npm run --silent admin --', program)
    .replace('site.jsonl', `"${join(directory, 'site.jsonl')}"`)
  const { stdout } = await runFile('bash', ['-c', command], { env: { ...process.env, ...sites } })
  return JSON.parse(stdout)
}

/** Follows the guide. Answers the number of the new site, and a token for it. */
const move = async (heading: string, directory: string, old: number) => {
  let created: number | undefined
  let token = ''
  const lines = linesBelow(heading)
  expect(lines).toHaveLength(5)
  for (const line of lines) {
    const told = await runLine(directory, line, { OLD: String(old), NEW: String(created) })
    if (line.includes('import')) expect(told).toMatchObject({ imported: expect.any(Number), skipped: 0, errors: [] })
    created = line.includes('site create') ? told.id : created
    token = told.token ?? token
  }
  if (created === undefined) throw new Error('The guide makes no site')
  return { site: created, token }
}

test('a site moves from one machine to AWS and back, and every list answers the same', async ({ directory, start }) => {
  const here = await start()
  const records = join(directory, 'records.jsonl')
  await writeFile(records, oddRecords.map((record) => JSON.stringify(record)).join('\n'))
  await administerJson(directory, ['import', records, '--site', String(here.siteId)])
  const before = await answersOfEveryList({ baseUrl: here.baseUrl, token: here.token, site: here.siteId })
  expect(before.size).toBeGreaterThan(20)

  const away = await move('From one machine to AWS', directory, here.siteId)
  expect(await answersOfEveryList({ ...away, baseUrl: deployment.baseUrl })).toEqual(before)

  const home = await move('From AWS to one machine', directory, away.site)
  expect(home.site).not.toBe(here.siteId)
  expect(await answersOfEveryList({ ...home, baseUrl: here.baseUrl })).toEqual(before)
})
