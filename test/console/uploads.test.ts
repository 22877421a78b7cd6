import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page, Route } from 'playwright-core'
import { expect } from 'vitest'
import type { SiteClient } from '../../client/src/index.ts'
import { expectAccessible, test } from './support/console.ts'
import { choose, confirm, follow, refusal, reopenStream, row, signIn } from './support/page.ts'

const patiently = { timeout: 10_000 }
const list = (page: Page): Locator => page.getByRole('region', { name: 'Uploads' })
const upload = (page: Page, name: string): Locator => list(page).getByRole('listitem').filter({ hasText: name })
const chooseFiles = (page: Page): Locator => page.locator('.bar input[type=file]').first()
const text = (name: string, content: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) })
/** Two pieces: the first 4 MB, and the remaining bytes. */
const large = { name: 'film.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(5_000_000, 7) }
const textOf = async ({ files }: SiteClient, path: string) => (await files.read(path)).text()

/** Holds back the chosen pieces of uploads, and returns them. */
const holdPieces = async (page: Page, isHeld: (piece: number) => boolean): Promise<readonly Route[]> => {
  const held: Route[] = []
  let pieces = 0
  await page.route('**/uploads/*', (route) =>
    route.request().method() === 'PATCH' && isHeld(++pieces) ? void held.push(route) : route.continue(),
  )
  return held
}

/** Drops files with their folders, as a browser does: first the drag, and then the entries in portions. */
const drop = (page: Page, files: Readonly<Record<string, string>>) =>
  page.getByRole('region', { name: /^folder-/ }).evaluate((target, given) => {
    const entryOf = (path: string) => {
      const isFile = path in given
      const inside = Object.keys(given).filter((each) => each.startsWith(`${path}/`) && each !== `${path}/`)
      const portions = [...inside.map((each) => [entryOf(each)]), []]
      const file = (resolve: (file: File) => void) => resolve(new File([given[path] ?? ''], path))
      const readEntries = (resolve: (entries?: readonly object[]) => void) => resolve(portions.shift())
      return { isFile, isDirectory: !isFile, fullPath: `/${path}`, file, createReader: () => ({ readEntries }) }
    }
    const names = new Set(Object.keys(given).map((path) => path.split('/')[0] ?? ''))
    const items = [...names].map((name) => ({ webkitGetAsEntry: () => entryOf(name) }))
    for (const type of ['dragover', 'drop']) {
      const event = new Event(type, { bubbles: true, cancelable: true })
      Object.defineProperty(event, 'dataTransfer', { value: { types: ['Files'], files: [], items } })
      target.dispatchEvent(event)
    }
  }, files)

test('dropped files and folders are uploaded with their contents (K-8)', async ({ openFolder, client, folder }) => {
  const page = await openFolder()
  await page.getByText('This folder is empty').waitFor()
  await drop(page, { 'one.txt': '1', 'photos/two.txt': '2', 'photos/old/three.txt': '3', 'nothing/': '' })
  await list(page).getByText('3 of 3 done').waitFor()
  await row(page, 'photos').waitFor()
  await row(page, 'nothing').waitFor()
  expect(await textOf(client, `${folder}/photos/old/three.txt`)).toBe('3')
})

test('files that are chosen as soon as a folder appears go to that folder', async ({ open, client, folder }) => {
  const page = await open('#/1001/files')
  await chooseFiles(page).waitFor({ state: 'attached' })
  await page.evaluate(
    ([hash, shown]) =>
      new Promise<void>((resolve) => {
        const watcher = new MutationObserver(() => {
          if (!document.querySelector(`.folder[aria-label="${shown}"]`)) return
          watcher.disconnect()
          const input = document.querySelector<HTMLInputElement>('.bar input[type=file]')
          const given = new DataTransfer()
          given.items.add(new File(['quick'], 'quick.txt'))
          if (input) input.files = given.files
          input?.dispatchEvent(new Event('change', { bubbles: true }))
          resolve()
        })
        watcher.observe(document.body, { subtree: true, childList: true, attributes: true })
        location.hash = hash
      }),
    [`#/1001/files/${folder}`, folder] as const,
  )
  await list(page).getByText('1 of 1 done').waitFor()
  expect(await textOf(client, `${folder}/quick.txt`)).toBe('quick')
})

test('the page asks about existing names; one answer can suffice (K-9)', async ({ openFolder, client, folder }) => {
  const names = ['a.txt', 'b.txt', 'c.txt']
  const page = await openFolder([...names, 'b (2).txt'])
  const dialog = page.getByRole('dialog')
  await chooseFiles(page).setInputFiles([text('a.txt', 'new')])
  await page.getByRole('dialog', { name: `a.txt already exists in ${folder}` }).waitFor()
  expect(await dialog.locator('footer').getByRole('button').allTextContents()).toEqual(['Skip', 'Replace', 'Keep both'])
  // The question may appear while the user types. Pressing Enter alone must not replace a file.
  const styleOf = (shown: Element) => [shown.textContent, getComputedStyle(shown).outlineStyle]
  expect(await dialog.locator(':focus').evaluate(styleOf)).toEqual(['Keep both', 'solid'])
  await expectAccessible(page)
  await confirm(page, 'Replace')
  await list(page).getByText('1 of 1 done').waitFor()
  expect(await textOf(client, `${folder}/a.txt`)).toBe('new')

  await chooseFiles(page).setInputFiles(names.map((name) => text(name, 'both')))
  await dialog.getByLabel('Do the same for all files').press('Space')
  await confirm(page, 'Keep both')
  await list(page).getByText('4 of 4 done').waitFor()
  expect(await textOf(client, `${folder}/b (3).txt`)).toBe('both')
  expect(await textOf(client, `${folder}/b.txt`)).toBe('b.txt')

  await chooseFiles(page).setInputFiles([text('c.txt', 'skipped')])
  await confirm(page, 'Skip')
  await list(page).getByText('5 of 5 done').waitFor()
  // An earlier attempt may have stored this file before its answer was lost.
  await chooseFiles(page).setInputFiles([text('c.txt', 'c.txt')])
  await list(page).getByText('6 of 6 done').waitFor()
  expect(await dialog.count()).toBe(0)
  expect(await textOf(client, `${folder}/c.txt`)).toBe('c.txt')
  await list(page).getByRole('button', { name: 'Clear the list' }).press('Enter')
  await list(page).waitFor({ state: 'detached' })
})

test('one upload is paused and continued, another is cancelled (K-8)', async ({ openFolder, client, folder }) => {
  const page = await openFolder()
  const held = await holdPieces(page, (piece) => piece === 2 || piece === 3)
  await chooseFiles(page).setInputFiles([large])
  await expect.poll(() => held.length, patiently).toBe(1)
  const progress = upload(page, 'film.bin').getByRole('progressbar')
  expect(Number(await progress.getAttribute('value'))).toBe(4_000_000)
  await page.getByRole('button', { name: 'Pause film.bin' }).click()
  await upload(page, 'Paused').waitFor()
  await page.getByRole('button', { name: 'Resume film.bin' }).click()
  // The upload continues, and does not start again.
  const offsets = () => held.map((route) => route.request().headers()['upload-offset'])
  await expect.poll(offsets, patiently).toEqual(['4000000', '4000000'])
  for (const route of held) await route.continue().catch(() => {})
  await list(page).getByText('1 of 1 done').waitFor()
  expect((await client.files.stat(`${folder}/film.bin`)).size).toBe(5_000_000)

  const others = await holdPieces(page, () => true)
  await chooseFiles(page).setInputFiles([{ ...large, name: 'other.bin' }])
  await expect.poll(() => others.length, patiently).toBe(1)
  const informed = page.waitForRequest((request) => request.method() === 'DELETE')
  await page.getByRole('button', { name: 'Cancel other.bin' }).click()
  await upload(page, 'other.bin').waitFor({ state: 'detached' })
  await informed
})

test('all failed uploads are repeated with one click', async ({ openFolder, client, folder }) => {
  const page = await openFolder()
  await page.route('**/*.txt', refusal(507, 100507, 'The disk is full.'))
  await chooseFiles(page).setInputFiles([text('a.txt', 'a'), text('b.txt', 'b')])
  await expect.poll(() => upload(page, 'The disk is full.').count(), patiently).toBe(2)
  await page.unrouteAll({ behavior: 'wait' })
  await list(page).getByRole('button', { name: 'Try again', exact: true }).click()
  await list(page).getByText('2 of 2 done').waitFor()
  await follow(page, `#/1001/files/${folder}/missing`)
  await page.getByRole('alert').waitFor()
  await expectAccessible(page)
  expect(await textOf(client, `${folder}/b.txt`)).toBe('b')
})

test('a large upload waits for the network, and is then sent', async ({ openFolder, client, folder }) => {
  const page = await openFolder()
  await page.getByText('This folder is empty').waitFor()
  for (const part of ['on-demand', 'large-uploads']) {
    const script = await page.waitForFunction(
      (start) => performance.getEntriesByType('resource').find(({ name }) => name.includes(start))?.name,
      `/console/${part}-`,
    )
    await page.evaluate((name = '') => import(name), await script.jsonValue())
  }
  await page.context().setOffline(true)
  await chooseFiles(page).setInputFiles([large])
  await list(page).getByText('The service did not answer').waitFor()
  await page.context().setOffline(false)
  await list(page).getByText('1 of 1 done').waitFor()
  expect((await client.files.stat(`${folder}/film.bin`)).size).toBe(5_000_000)
})

test('while the network is lost, the list of uploads says so instead of a rate (K-8)', async ({ openFolder }) => {
  const page = await openFolder()
  const held = await holdPieces(page, (piece) => piece > 1)
  await chooseFiles(page).setInputFiles([large])
  await expect.poll(() => held.length, patiently).toBe(1)
  await page.context().setOffline(true)
  await reopenStream(page)
  const waits = list(page).getByText('No connection to the service. Trying again…')
  await waits.waitFor()
  await page.context().setOffline(false)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await waits.waitFor({ state: 'detached' })
})

test('after a reload, an upload continues where it stopped', async ({ openFolder, client, folder, directory }) => {
  const page = await openFolder()
  const path = join(directory, 'film.bin')
  await writeFile(path, large.buffer)
  const held = await holdPieces(page, (piece) => piece > 1)
  page.on('dialog', (dialog) => dialog.accept())
  await chooseFiles(page).setInputFiles(path)
  await expect.poll(() => held.length, patiently).toBe(1)
  await page.reload()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  const offsets: (string | undefined)[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH') offsets.push(request.headers()['upload-offset'])
  })
  await list(page).getByText('1 upload was interrupted').waitFor()
  await list(page).locator('input[type=file]').first().setInputFiles(path)
  await list(page).getByText('1 of 1 done').waitFor()
  expect(offsets[0]).toBe('4000000')
  expect((await client.files.stat(`${folder}/film.bin`)).size).toBe(5_000_000)
})

test('signing out stops the uploads, and signing in continues them', async ({ openFolder, service }) => {
  const page = await openFolder()
  const held = await holdPieces(page, () => true)
  await chooseFiles(page).setInputFiles([large])
  await expect.poll(() => held.length, patiently).toBe(1)
  const ended = page.waitForEvent('requestfailed', (request) => request.method() === 'PATCH')
  await choose(page, 'Settings', 'Sign out')
  await ended
  await expect.poll(() => page.title()).toBe('Site administration')
  await signIn(page, service.token)
  await list(page).getByText('1 upload was interrupted').waitFor()
})
