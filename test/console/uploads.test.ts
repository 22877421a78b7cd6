import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { test } from './support/console.ts'

const patiently = { timeout: 10_000 }
const list = (page: Page): Locator => page.getByRole('region', { name: 'Uploads' })
const upload = (page: Page, name: string): Locator => list(page).getByRole('listitem').filter({ hasText: name })
const chooseFiles = (page: Page): Locator => page.locator('.bar input[type=file]').first()
const text = (name: string, content: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) })
const large = (name: string, size: number) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.alloc(size, name),
})

/** Drops files with their folders, like a browser. */
const drop = (page: Page, files: Readonly<Record<string, string>>) =>
  page.getByRole('region', { name: /^folder-/ }).evaluate((target, given) => {
    const fileEntry = (path: string, content: string) => ({
      isFile: true,
      isDirectory: false,
      fullPath: `/${path}`,
      file: (resolve: (file: File) => void) => resolve(new File([content], path.slice(path.lastIndexOf('/') + 1))),
    })
    const folderEntry = (name: string) => {
      let contents = Object.entries(given)
        .filter(([path]) => path.startsWith(`${name}/`) && path !== `${name}/`)
        .map(([path, content]) => fileEntry(path, content))
      return {
        isFile: false,
        isDirectory: true,
        fullPath: `/${name}`,
        // One at a time, because browsers return many entries in portions.
        createReader: () => ({
          readEntries: (resolve: (entries: readonly unknown[]) => void) => {
            resolve(contents.slice(0, 1))
            contents = contents.slice(1)
          },
        }),
      }
    }
    const names = [...new Set(Object.keys(given).map((path) => path.split('/')[0] ?? ''))]
    const entries = names.map((name) => (name in given ? fileEntry(name, given[name] ?? '') : folderEntry(name)))
    const event = new Event('drop', { bubbles: true, cancelable: true })
    Object.defineProperty(event, 'dataTransfer', {
      value: { types: ['Files'], files: [], items: entries.map((entry) => ({ webkitGetAsEntry: () => entry })) },
    })
    // A browser reports first what is dragged over.
    const over = new Event('dragover', { bubbles: true, cancelable: true })
    Object.defineProperty(over, 'dataTransfer', { value: { types: ['Files'] } })
    target.dispatchEvent(over)
    target.dispatchEvent(event)
  }, files)

test('dropped files and folders are uploaded with their contents (K-8)', async ({ open, client, folder }) => {
  const page = await open(`#/1001/files/${folder}`)
  await page.getByText('This folder is empty').waitFor()
  await drop(page, { 'one.txt': '1', 'photos/two.txt': '2', 'photos/old/three.txt': '3', 'nothing/': '' })
  await list(page).getByText('3 of 3 uploaded').waitFor()
  await page.getByRole('grid').getByRole('link', { name: 'photos' }).waitFor()
  await page.getByRole('grid').getByRole('link', { name: 'nothing' }).waitFor()
  expect(await (await client.files.read(`${folder}/photos/old/three.txt`)).text()).toBe('3')
})

test('files that are chosen as soon as a folder appears go into it', async ({ open, client, folder }) => {
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
  await list(page).getByText('1 of 1 uploaded').waitFor()
  expect(await (await client.files.read(`${folder}/quick.txt`)).text()).toBe('quick')
})

test('a collision is asked about, and one answer may apply to all (K-9)', async ({ open, client, folder }) => {
  const names = ['a.txt', 'b.txt', 'c.txt']
  await Promise.all(names.map((name) => client.files.put(`${folder}/${name}`, 'old')))
  const page = await open(`#/1001/files/${folder}`)
  await chooseFiles(page).setInputFiles([text('a.txt', 'new')])
  const dialog = page.getByRole('dialog')
  await dialog.getByText('a.txt already exists').waitFor()
  await dialog.getByLabel('Replace').check()
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await list(page).getByText('1 of 1 uploaded').waitFor()
  expect(await (await client.files.read(`${folder}/a.txt`)).text()).toBe('new')

  await chooseFiles(page).setInputFiles(names.map((name) => text(name, 'both')))
  await dialog.getByLabel('Do the same for all files').check()
  // The question may appear while the user types: Enter alone replaces nothing.
  await dialog.getByLabel('Keep both').press('Enter')
  await list(page).getByText('4 of 4 uploaded').waitFor()
  expect(await (await client.files.read(`${folder}/b (2).txt`)).text()).toBe('both')
  expect(await (await client.files.read(`${folder}/b.txt`)).text()).toBe('old')

  await chooseFiles(page).setInputFiles([text('c.txt', 'skipped')])
  await dialog.getByRole('button', { name: 'Skip this file' }).click()
  await upload(page, 'Skipped').waitFor()
  expect(await (await client.files.read(`${folder}/c.txt`)).text()).toBe('old')
})

test('an upload is paused and continued, and another one is cancelled (K-8)', async ({ open, client, folder }) => {
  const page = await open(`#/1001/files/${folder}`)
  const held: (() => void)[] = []
  let sent = 0
  await page.route('**/uploads/*', async (route) => {
    if (route.request().method() === 'PATCH') {
      sent++
      if (sent === 2 || sent === 3) await new Promise<void>((resolve) => held.push(resolve))
    }
    await route.continue().catch(() => {})
  })
  await chooseFiles(page).setInputFiles([large('film.bin', 5_000_000)])
  await expect.poll(() => held.length, patiently).toBe(1)
  const progress = upload(page, 'film.bin').getByRole('progressbar')
  expect(Number(await progress.getAttribute('value'))).toBe(4_000_000)
  await page.getByRole('button', { name: 'Pause film.bin' }).click()
  await upload(page, 'Paused').waitFor()
  await page.getByRole('button', { name: 'Resume film.bin' }).click()
  await expect.poll(() => held.length, patiently).toBe(2)
  for (const release of held) release()
  await list(page).getByText('1 of 1 uploaded').waitFor()
  // It continued, and did not start again.
  expect((await client.files.stat(`${folder}/film.bin`)).size).toBe(5_000_000)

  // Held until it is cancelled. Otherwise it might be complete before.
  await page.route('**/uploads/*', (route) => (route.request().method() === 'PATCH' ? undefined : route.continue()))
  await chooseFiles(page).setInputFiles([large('other.bin', 5_000_000)])
  await upload(page, 'other.bin').getByRole('progressbar').waitFor()
  await page.getByRole('button', { name: 'Cancel other.bin' }).click()
  await upload(page, 'other.bin').waitFor({ state: 'detached' })
})

test('failed files are repeated together', async ({ open, client, folder }) => {
  const page = await open(`#/1001/files/${folder}`)
  const json = { code: 100507, message: 'The disk is full.', requestId: 'r' }
  await page.route('**/*.txt', (route) => route.fulfill({ status: 507, json }))
  await chooseFiles(page).setInputFiles([text('a.txt', 'a'), text('b.txt', 'b')])
  await expect.poll(() => upload(page, 'The disk is full.').count(), patiently).toBe(2)
  await page.unrouteAll({ behavior: 'wait' })
  await list(page).getByRole('button', { name: 'Try again', exact: true }).click()
  await list(page).getByText('2 of 2 uploaded').waitFor()
  expect(await (await client.files.read(`${folder}/b.txt`)).text()).toBe('b')
})

test('an upload survives a reload: the page asks for its file, and continues in the middle', async ({
  open,
  client,
  folder,
  directory,
}) => {
  const page = await open(`#/1001/files/${folder}`)
  const path = join(directory, 'film.bin')
  await writeFile(path, Buffer.alloc(5_000_000, 7))
  let patches = 0
  await page.route('**/uploads/*', async (route) => {
    if (route.request().method() === 'PATCH' && ++patches > 1) return
    await route.continue()
  })
  page.on('dialog', (dialog) => dialog.accept())
  await chooseFiles(page).setInputFiles(path)
  await expect.poll(() => patches, patiently).toBe(2)
  await page.reload()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  const offsets: (string | undefined)[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH') offsets.push(request.headers()['upload-offset'])
  })
  await list(page).getByText('1 upload was interrupted').waitFor()
  await list(page).locator('input[type=file]').first().setInputFiles(path)
  await list(page).getByText('1 of 1 uploaded').waitFor()
  expect(offsets[0]).toBe('4000000')
  expect((await client.files.stat(`${folder}/film.bin`)).size).toBe(5_000_000)
})

test('signing out stops the uploads, and signing in continues them', async ({ open, service, folder }) => {
  const page = await open(`#/1001/files/${folder}`)
  let isHeld = false
  await page.route('**/uploads/*', (route) => {
    if (route.request().method() !== 'PATCH') return route.continue()
    isHeld = true
  })
  await chooseFiles(page).setInputFiles([large('film.bin', 5_000_000)])
  await expect.poll(() => isHeld, patiently).toBe(true)
  const ended = page.waitForEvent('requestfailed', (request) => request.method() === 'PATCH')
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await ended
  await expect.poll(() => page.title()).toBe('Site administration')
  await page.getByLabel('Access token').fill(service.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await list(page).getByText('1 upload was interrupted').waitFor()
})
