import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { readZip } from '../support/read-zip.ts'
import { test } from './support/console.ts'
import { choose, confirm, grid, notice, press, row } from './support/page.ts'

/** The save dialog is not part of the page: here it chooses a file in the private folder of the page. */
const answerSaveDialog = (page: Page) =>
  page.evaluate(() => {
    const showSaveFilePicker = async ({ suggestedName }: { readonly suggestedName: string }) =>
      (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true })
    Object.assign(window, { showSaveFilePicker })
  })

const savedFile = (page: Page, name: string): Promise<number[] | undefined> =>
  page.evaluate(async (wanted) => {
    const folder = await navigator.storage.getDirectory()
    const handle = await folder.getFileHandle(wanted).catch(() => undefined)
    return handle && [...new Uint8Array(await (await handle.getFile()).arrayBuffer())]
  }, name)

test('a selection is written to one zip, or to none if a file changes on the way (K-41)', async ({
  openFolder,
  client,
  folder,
}) => {
  const page = await openFolder(['a.txt', 'b.txt', 'sub/c.txt'])
  const name = `${folder}.zip`
  const dialog = page.getByRole('dialog', { name: `Download ${name}` })
  await answerSaveDialog(page)
  await row(page, 'a.txt').waitFor()
  await grid(page).focus()
  await press(page, 'Control+a')
  await page.getByRole('button', { name: 'Download as zip' }).press('Enter')
  await dialog.getByText('3 files, 19 B in all.').waitFor()
  const change = async () => client.files.put(`${folder}/b.txt`, 'other', { replace: true })
  await page.route('**/b.txt', async (route) => {
    await change()
    await route.continue()
  })
  await confirm(page, 'Download')
  await dialog.getByRole('alert').getByText(`${folder}/b.txt`).waitFor()
  expect(await savedFile(page, name)).toBeUndefined()
  await page.unroute('**/b.txt')
  await dialog.getByText('3 files, 19 B in all.').waitFor()
  await confirm(page, 'Download')
  await notice(page, `${name} downloaded.`).waitFor()
  const texts = { 'a.txt': 'a.txt', 'b.txt': 'other', 'sub/c.txt': 'sub/c.txt' }
  expect(await readZip(Uint8Array.from((await savedFile(page, name)) ?? []))).toEqual(texts)
})

test('without a save dialog for pages, a zip has a limit, and is a download (K-41)', async ({ openFolder, folder }) => {
  const page = await openFolder(['a.txt', 'sub/c.txt'])
  await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'))
  const listing = '**/storage/*?*recursive*'
  await page.route(listing, async (route) => {
    const answer = await route.fetch()
    const { contents, ...rest } = await answer.json()
    await route.fulfill({ json: { ...rest, contents: contents.map((each: object) => ({ ...each, size: 3e8 })) } })
  })
  await choose(page, 'More actions', 'Download this folder')
  await page.getByText('in memory, so its files may have at most 500 MB').waitFor()
  expect(await page.getByRole('dialog').getByRole('button', { name: 'Download' }).isDisabled()).toBe(true)
  await press(page, 'Escape')
  await page.unroute(listing)
  await choose(page, 'More actions', 'Download this folder')
  const downloading = page.waitForEvent('download')
  await page.getByText('2 files').waitFor()
  await confirm(page, 'Download')
  const download = await downloading
  expect(download.suggestedFilename()).toBe(`${folder}.zip`)
  expect(Object.keys(await readZip(await readFile(await download.path())))).toEqual([
    `${folder}/a.txt`,
    `${folder}/sub/c.txt`,
  ])
})
