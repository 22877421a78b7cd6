import { execFileSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { jsonLines, refusal } from '../../../support/administration.ts'
import { messages } from '../../../support/messages.ts'
import { hasOpen, launch } from '../../../support/program.ts'
import { test as base } from '../../../support/test.ts'

const importing = 'import - --site 1001'
const listCategories = 'category list --site 1001'

const whole = [
  { kind: 'webForm', id: 3, name: 'Contact' },
  { kind: 'field', webFormId: 3, typeId: -2, name: 'You', mandatory: true, order: 4 },
  { kind: 'category', id: 5, name: 'Five' },
  { kind: 'news', id: 1, subject: 'One', body: '<p>One</p>', weight: 3, enabled: false },
  { kind: 'link', type: 'news', categoryId: 5, objectId: 1, displayable: 0 },
]
const sparse = [
  { kind: 'webForm', id: 3 },
  { kind: 'field', webFormId: 3, typeId: -2 },
  { kind: 'category', id: 5 },
  { kind: 'news', id: 1 },
  { kind: 'news', id: 1, roleId: 9 },
  { kind: 'link', type: 'news', categoryId: 5, objectId: 1 },
]
const test = base.extend('site', ({ commands: { run, attempt } }) => ({
  load: (records: readonly object[], option = '') => run(importing + option, jsonLines(records)),
  exported: async () =>
    (await attempt('export --site 1001')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
}))

test('an import keeps stored members, also the text of a news item (T-25)', async ({ site: { load, exported } }) => {
  await load(whole)
  const before = await exported()
  expect(before).toMatchObject(whole)
  expect(await load(sparse)).toMatchObject({ imported: 6, skipped: 0 })
  const after = before.map((record) => (record.kind === 'news' ? { ...record, roleId: 9 } : record))
  expect(await exported()).toEqual(after)
})

test('import --replace sets missing members to defaults (T-26)', async ({ site: { load, exported } }) => {
  await load(whole)
  await load(sparse, ' --replace')
  const [webForm, field, category, news, link] = await exported()
  expect([webForm, field, category, link]).toEqual([
    { ...sparse[0], name: 'Web form 3' },
    { ...sparse[1], mandatory: false, order: 4 },
    { ...sparse[2], name: 'Category 5' },
    { ...sparse[5], displayable: 1 },
  ])
  expect(news).toMatchObject({ id: 1, subject: 'News 1', body: '', weight: null, enabled: true, roleId: 9 })
})

test('import --replace keeps the time of creation, and thus the order', async ({ site: { load, exported } }) => {
  const createDate = '2020-02-03T04:05:06'
  await load([{ kind: 'news', id: 1, createDate }])
  for (let time = 0; time < 2; time++) {
    await load(sparse, ' --replace')
    const news = { kind: 'news', createDate, releaseDate: createDate }
    expect(await exported()).toContainEqual(expect.objectContaining(news))
  }
})

const interruptedAfter = (count: number, directory: string) => refusal(directory, messages.record.interrupted(count))

base.for(['SIGINT', 'SIGTERM'] as const)(
  'an import interrupted by %s prints what is stored, and how to continue',
  async (signal, { siteDirectory, commands: { run } }) => {
    const program = launch('admin/main.js', ['--data-dir', siteDirectory, ...importing.split(' ')])
    const many = Array.from({ length: 500 }, (_, index) => ({ kind: 'category', id: index + 1 }))
    program.stdin.write(jsonLines([...many, { kind: 'category', id: 501 }]))
    const count = async () => (await run(listCategories)).length
    await expect.poll(count).toBe(500)
    program.kill(signal)
    expect(await program.ended).toMatchObject(interruptedAfter(500, siteDirectory))
    expect(await count()).toBe(500)
  },
)

base.runIf(process.platform === 'linux').for([
  ['without a writer', false],
  ['with a silent writer', true],
] as const)('an import from a pipe %s ends at the first SIGTERM', async ([, hasWriter], { siteDirectory }) => {
  const pipe = join(siteDirectory, 'pipe')
  execFileSync('mkfifo', [pipe])
  if (hasWriter) {
    const writer = openSync(pipe, 'r+')
    onTestFinished(() => closeSync(writer))
  }
  const program = launch('admin/main.js', ['--data-dir', siteDirectory, 'import', pipe, '--site', '1001'])
  onTestFinished(() => program.kill('SIGKILL'))
  await expect.poll(() => hasOpen(program.pid, pipe)).toBe(true)
  program.kill('SIGTERM')
  expect(await program.ended).toMatchObject(interruptedAfter(0, siteDirectory))
})

base('import accepts records that arrive late through a pipe', async ({ siteDirectory, commands: { run } }) => {
  const pipe = join(siteDirectory, 'pipe')
  execFileSync('mkfifo', [pipe])
  const program = launch('admin/main.js', ['--data-dir', siteDirectory, 'import', pipe, '--site', '1001'])
  await writeFile(pipe, jsonLines([1, 2].map((id) => ({ kind: 'category', id }))))
  expect(await program.ended).toMatchObject({ status: 0 })
  expect(await run(listCategories)).toHaveLength(2)
})
