import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { pull, push } from '../../../client/src/sync/index.ts'
import { asDemo, siteFiles } from '../support/command.ts'
import { readSite, readTree, reported, type Texts, test, writeTree } from '../support/site.ts'

const names = [
  'with space',
  '# hash',
  '100 %',
  '%2e',
  'what?',
  `quotes '"`,
  'Cafe\u0301',
  'über',
  'Case',
  'case',
  '😀',
  'plain',
] as const
const count = 2_000

/** Small files in folders of 100, with names of every kind; every fiftieth is empty. */
const pathOf = (index: number) => `folder ${Math.floor(index / 100)}/${index} ${names[index % names.length]}.txt`
const small: Texts = Object.fromEntries(
  Array.from({ length: count - 1 }, (_, index) => [pathOf(index), index % 50 === 0 ? '' : `This is ${index}`]),
)

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)
const changed = (indexes: readonly number[], by: string): Texts =>
  Object.fromEntries(indexes.map((index) => [pathOf(index), `${index}, changed by ${by}`]))

test('2,000 files are pushed, changed on two machines, compared, pulled, and equal everywhere', async ({
  client,
  folder,
  makeDirectory,
  service,
}) => {
  const ann = await makeDirectory(small)
  await writeFile(join(ann, 'large.bin'), Buffer.alloc(20_000_000, 'large file '))
  const [withAnn, bob] = [{ client, directory: ann, folder }, await makeDirectory()]
  const withBob = { client, directory: bob, folder }
  expect((await reported(push, withAnn)).end).toMatchObject({ create: count, failed: 0 })
  expect((await reported(pull, withBob)).end).toMatchObject({ create: count, failed: 0 })
  expect(await readTree(bob)).toStrictEqual(await readTree(ann))

  await writeTree(ann, { ...changed(range(0, 50), 'Ann'), 'new of Ann.txt': 'Ann' })
  // Bob has the names in the spelling of the site.
  const ofBob = Object.entries(changed(range(100, 150), 'Bob')).map(([path, text]) => [path.normalize('NFC'), text])
  await writeTree(bob, { ...Object.fromEntries(ofBob), 'new of Bob.txt': 'Bob' })
  for (const index of range(200, 210)) await rm(join(bob, pathOf(index).normalize('NFC')))

  const planned = await siteFiles(['--json', 'diff', ann, folder], asDemo(service))
  expect(planned.status).toBe(0)
  expect(planned.stdout).toContain('"create":1,"replace":50,"remove":0')
  expect((await reported(push, withAnn)).end).toMatchObject({ create: 1, replace: 50, conflict: 0, failed: 0 })
  const pushed = await reported(push, { ...withBob, removes: true })
  expect(pushed.end).toMatchObject({ create: 1, replace: 50, remove: 10, conflict: 0, failed: 0 })

  expect((await reported(pull, { ...withAnn, removes: true })).end).toMatchObject({
    create: 1,
    replace: 50,
    remove: 10,
  })
  expect((await reported(pull, withBob)).end).toMatchObject({ create: 1, replace: 50, remove: 0 })
  const site = await readSite(client, folder)
  expect(Object.keys(site)).toHaveLength(count + 2 - 10)
  expect(await readTree(ann)).toStrictEqual(site)
  expect(await readTree(bob)).toStrictEqual(site)
  const last = await siteFiles(['diff', bob, folder], asDemo(service))
  expect(last).toMatchObject({ status: 0, stdout: '' })
})
