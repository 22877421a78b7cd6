import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'
import { listenInTest } from '../support/listen.ts'
import { readZip } from '../support/read-zip.ts'
import { expectAccessible, test } from './support/console.ts'
import { choose, confirm, details, grid, notice, press, refusal, row } from './support/page.ts'

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

test('a selection is saved as one zip, or not if a file changes (K-41)', async ({ openFolder, client, folder }) => {
  const page = await openFolder(['a.txt', 'b.txt', 'sub/c.txt'])
  const name = `${folder}.zip`
  const dialog = page.getByRole('dialog', { name: `Download ${name}` })
  await answerSaveDialog(page)
  await row(page, 'a.txt').waitFor()
  await grid(page).focus()
  await press(page, 'Control+a')
  await page.getByRole('button', { name: 'Download as zip' }).press('Enter')
  await dialog.getByText('3 files, 19 B in all.').waitFor()
  await expectAccessible(page)
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

test('a browser that cannot save streams downloads a zip of limited size (K-41)', async ({ openFolder, folder }) => {
  const page = await openFolder(['a.txt', 'sub/c.txt'])
  await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'))
  const listing = '**/storage/*?*recursive*'
  await page.route(listing, async (route) => {
    const answer = await route.fetch()
    const { contents, ...rest } = await answer.json()
    await route.fulfill({ json: { ...rest, contents: contents.map((each: object) => ({ ...each, size: 3e8 })) } })
  })
  await choose(page, 'More actions', 'Download this folder')
  await page.getByText('in memory. Select at most 500 MB').waitFor()
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

const tile = (page: Page, name: string) => grid(page).getByRole('gridcell').filter({ hasText: name })
const chosen = (page: Page) => grid(page).locator('[aria-selected=true] bdi').allTextContents()
const picture = (colour: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="400"><rect width="800" height="400" fill="${colour}"/></svg>`

test('a grid makes each thumbnail once, and obeys all arrow keys (K-42)', async ({ openFolder, client, folder }) => {
  await client.files.put(`${folder}/a.svg`, picture('red'))
  await client.files.put(`${folder}/large.png`, new Uint8Array(2_000_001))
  const page = await openFolder(['b.txt', 'c.txt', 'd.txt', 'e.txt', 'f.txt', 'broken.png', 'sub/g.txt'])
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (search === '' && pathname.includes(folder)) asked.push(pathname.replace(/.*\//, ''))
  })
  await page.getByRole('button', { name: 'Show as a grid' }).press('Enter')
  const thumbnail = tile(page, 'a.svg').locator('img')
  const width = () => thumbnail.evaluate((shown) => shown instanceof HTMLImageElement && shown.naturalWidth)
  await expect.poll(width).toBe(240)
  await page.reload()
  await expect.poll(width).toBe(240)
  expect(new Set(asked)).toEqual(new Set(['a.svg', 'broken.png']))
  const before = asked.length
  await page.getByRole('button', { name: 'Show as a list' }).press('Enter')
  await row(page, 'a.svg').waitFor()
  await page.getByRole('button', { name: 'Show as a grid' }).press('Enter')
  await expect.poll(width).toBe(240)
  expect(asked.slice(before)).not.toContain('a.svg')
  await client.files.put(`${folder}/a.svg`, picture('#00ff00'), { replace: true })
  await expect.poll(() => asked.filter((name) => name === 'a.svg').length).toBe(3)

  const columns = Number(await grid(page).getAttribute('aria-colcount'))
  expect(columns).toBeGreaterThan(2)
  await grid(page).focus()
  const names = ['sub', 'a.svg', 'b.txt', 'broken.png', 'c.txt', 'd.txt', 'e.txt', 'f.txt', 'large.png']
  await press(page, 'ArrowDown', 'ArrowRight')
  expect(await chosen(page)).toEqual(['a.svg'])
  await press(page, 'ArrowDown')
  expect(await chosen(page)).toEqual([names[1 + columns]])
  await press(page, 'ArrowUp', 'Shift+ArrowRight')
  expect(await chosen(page)).toEqual(['a.svg', 'b.txt'])
  await expectAccessible(page)
  await press(page, 'Home', 'Enter')
  await tile(page, 'g.txt').waitFor()
  await press(page, 'Backspace')
  await tile(page, 'b.txt').click()
  await press(page, 'F2')
  await page.getByLabel('New name').fill('z.txt')
  await press(page, 'Enter')
  await tile(page, 'z.txt').waitFor()
})

const silence = (seconds: number) => {
  const length = 8000 * seconds
  const header = Buffer.alloc(44)
  header.write('RIFF\0\0\0\0WAVEfmt ')
  const words = { 4: 36 + length, 16: 16, 24: 8000, 28: 8000, 40: length }
  for (const [at, value] of Object.entries(words)) header.writeUInt32LE(value, Number(at))
  for (const [at, value] of Object.entries({ 20: 1, 22: 1, 32: 1, 34: 8 })) header.writeUInt16LE(value, Number(at))
  header.write('data', 36)
  return new Uint8Array(Buffer.concat([header, Buffer.alloc(length, 128)]))
}

test('audio and video are played in parts, even after a link has expired (K-43)', async ({ open, client, folder }) => {
  await client.files.put(`${folder}/sound.wav`, silence(600))
  await client.files.put(`${folder}/film.webm`, await readFile(join(import.meta.dirname, 'support', 'film.webm')))
  await client.files.put(`${folder}/broken.webm`, 'no film')
  const page = await open(`#/1001/files/${folder}?file=sound.wav`)
  const player = details(page).locator('audio, video')
  const state = () =>
    player.evaluate((shown: HTMLVideoElement) => {
      const { src, duration, currentTime, paused, seeking, readyState, videoWidth: width } = shown
      return { src, duration, currentTime, isPlaying: !paused && !seeking && readyState > 2, width }
    })
  const seek = (to: number) =>
    player.evaluate(async (shown: HTMLMediaElement, seconds) => {
      await shown.play()
      shown.currentTime = seconds
    }, to)
  const playsAfter = async (seconds: number) => {
    await expect.poll(state).toMatchObject({ isPlaying: true })
    expect((await state()).currentTime).toBeGreaterThanOrEqual(seconds)
  }

  const parts: number[] = []
  page.on('response', async (response) => {
    if (response.status() === 206) parts.push(Number.parseInt(response.headers()['content-range']?.slice(6) ?? '', 10))
  })
  await seek(540)
  await playsAfter(540)
  expect(Math.max(...parts)).toBeGreaterThan(4_000_000)
  const { src: expired } = await state()
  await page.route(expired, refusal(403, 101000, 'The link has expired.'))
  await seek(240)
  await expect.poll(async () => (await state()).src).not.toBe(expired)
  await playsAfter(240)

  // A damaged part fails again at the same place.
  const fail = () =>
    player.evaluate((shown: HTMLMediaElement) => {
      shown.pause()
      shown.dispatchEvent(new Event('error'))
    })
  await expect.poll(async () => (await state()).currentTime).toBeGreaterThan(241.5)
  const { src: before } = await state()
  await fail()
  await expect.poll(async () => (await state()).src).not.toBe(before)
  await expect.poll(state).toMatchObject({ duration: 600 })
  await fail()
  await details(page).getByText('No preview is available').waitFor()

  await row(page, 'film.webm').getByRole('link').click()
  await expect.poll(state).toMatchObject({ width: 32, duration: 60 })
  await seek(50)
  await playsAfter(50)
  await row(page, 'broken.webm').getByRole('link').click()
  await details(page).getByText('No preview is available').waitFor()
})

test('the editor saves a text, or shows what someone saved first (K-44)', async ({ openFolder, client, folder }) => {
  const page = await openFolder(['a.txt'])
  const path = `${folder}/a.txt`
  const textNow = async () => (await client.files.read(path)).text()
  const dialog = page.getByRole('dialog', { name: 'a.txt' })
  const edit = async (text: string) => {
    await details(page).getByRole('button', { name: 'Edit' }).press('Enter')
    await dialog.getByLabel('Source').waitFor()
    await press(page, 'Control+a')
    await page.keyboard.type(text)
  }
  await row(page, 'a.txt').getByRole('link').click()
  await edit('mine')
  await press(page, 'Control+s')
  await notice(page, 'a.txt saved.').waitFor()
  await details(page).getByText('mine', { exact: true }).waitFor()

  await edit('mine again')
  await client.files.put(path, 'theirs', { replace: true })
  await confirm(page, 'Save')
  await dialog.getByRole('alert').getByText('Someone else has saved a.txt').waitFor()
  expect(await dialog.getByLabel('Your version').inputValue()).toBe('mine again')
  expect(await dialog.getByLabel('Saved version').inputValue()).toBe('theirs')
  // The keys for saving do not decide between two versions.
  await press(page, 'Control+s')
  await expectAccessible(page)
  expect(await textNow()).toBe('theirs')
  await confirm(page, 'Use the saved version')
  expect(await dialog.getByLabel('Source').inputValue()).toBe('theirs')
  await press(page, 'Escape')
  await dialog.waitFor({ state: 'detached' })

  await edit('last')
  await client.files.put(path, 'theirs again', { replace: true })
  await confirm(page, 'Save')
  await confirm(page, 'Save my version')
  await expect.poll(textNow).toBe('last')
  await dialog.waitFor({ state: 'detached' })

  await edit('lost')
  await press(page, 'Escape')
  await dialog.getByText('Your changes are not saved.').waitFor()
  await expectAccessible(page)
  await press(page, 'Escape')
  await confirm(page, 'Continue editing')
  expect(await dialog.getByLabel('Source').inputValue()).toBe('lost')
  await page.goBack()
  await dialog.getByText('Your changes are not saved.').waitFor()
  expect(await dialog.getByLabel('Source').inputValue()).toBe('lost')
  await confirm(page, 'Discard the changes')
  expect(await textNow()).toBe('last')
})

test('the editor says that a save of a page discards its draft (S-48)', async ({ openFolder, service, folder }) => {
  const page = await openFolder(['page.html', 'other.html'])
  const draft = `/api/v2/admin/sites/1001/storage/${folder}/page.html?version=draft`
  await service.request(draft, { method: 'PUT', body: 'draft' })
  const warnings = async (name: string) => {
    await row(page, name).getByRole('link').click()
    await details(page).getByRole('heading', { name }).waitFor()
    await details(page).getByRole('button', { name: 'Show and edit' }).press('Enter')
    const dialog = page.getByRole('dialog', { name })
    await dialog.getByLabel('Source').waitFor()
    const count = await dialog.getByText('Saving also discards the draft.').count()
    await press(page, 'Escape')
    return count
  }
  expect(await warnings('page.html')).toBe(1)
  expect(await warnings('other.html')).toBe(0)
})

test('a text cannot be changed while it is saved (K-44)', async ({ openFolder, client, folder }) => {
  const page = await openFolder(['a.txt'])
  const dialog = page.getByRole('dialog', { name: 'a.txt' })
  await row(page, 'a.txt').getByRole('link').click()
  await details(page).getByRole('button', { name: 'Edit' }).press('Enter')
  await dialog.getByLabel('Source').fill('sent')
  const saving = Promise.withResolvers<Route>()
  await page.route('**/a.txt', (route) =>
    route.request().method() === 'GET' ? route.continue() : saving.resolve(route),
  )
  await confirm(page, 'Save')
  const held = await saving.promise
  await dialog.getByLabel('Source').focus()
  await page.keyboard.type('lost')
  expect(await dialog.getByLabel('Source').inputValue()).toBe('sent')
  await held.continue()
  await notice(page, 'a.txt saved.').waitFor()
  expect(await (await client.files.read(`${folder}/a.txt`)).text()).toBe('sent')
})

test('neither Esc nor the save of another file drops unsaved changes (K-44)', async ({ openFolder }) => {
  const page = await openFolder(['a.txt', 'b.txt'])
  const saving = Promise.withResolvers<Route>()
  await page.route('**/a.txt', (route) =>
    route.request().method() === 'GET' ? route.continue() : saving.resolve(route),
  )
  const edit = async (name: string) => {
    await row(page, name).getByRole('link').click()
    await details(page).getByRole('heading', { name }).waitFor()
    await details(page).getByRole('button', { name: 'Edit' }).press('Enter')
    await page.getByRole('dialog', { name }).getByLabel('Source').fill(`new ${name}`)
  }
  await edit('a.txt')
  await confirm(page, 'Save')
  const held = await saving.promise
  await press(page, 'Escape')
  await confirm(page, 'Discard the changes')
  await edit('b.txt')
  await held.continue()
  await notice(page, 'a.txt saved.').waitFor()
  await press(page, 'Escape', 'Escape', 'Escape', 'Escape')
  await confirm(page, 'Continue editing')
  expect(await page.getByRole('dialog', { name: 'b.txt' }).getByLabel('Source').inputValue()).toBe('new b.txt')
})

test('a page runs no script, and cannot reach the console (K-45)', async ({ browser, client, folder, service }) => {
  const asked: (string | undefined)[] = []
  const server = createServer(({ url }, answer) => {
    asked.push(url)
    answer.end()
  })
  const elsewhere = await listenInTest(server)
  await client.files.put(
    `${folder}/page.html`,
    `<style>p { color: rgb(1, 2, 3) }</style><p style="width: 50px">Hello</p>
    <script>document.body.append('ran')</script><img src="${elsewhere}/picture" onerror="document.body.append('ran')">
    <link rel="stylesheet" href="${elsewhere}/style"><meta http-equiv="refresh" content="0; url=${elsewhere}/refresh">
    <iframe src="${elsewhere}/frame"></iframe><form action="${elsewhere}/form"><button>Send</button></form>
    <a href="${elsewhere}/link">Follow</a><a href="${elsewhere}/top" target="_top">Leave</a>`,
  )
  const page = await browser.newPage({ reducedMotion: 'reduce' })
  await page.goto(`${service.baseUrl}/console#token=${service.token}&/1001/files/${folder}?file=page.html`)
  await details(page).getByRole('button', { name: 'Show and edit' }).press('Enter')
  const shown = page.frameLocator('iframe[title="Page page.html"]').frameLocator('iframe')
  const look = () =>
    shown.locator('p').evaluate((seen) => ({
      colour: getComputedStyle(seen).color,
      width: seen.clientWidth,
      origin: self.origin,
      text: document.body.innerText.match(/ran|Hello/g),
    }))
  // The frame may be written again while the page opens.
  await expect.poll(look).toEqual({ colour: 'rgb(1, 2, 3)', width: 50, origin: 'null', text: ['Hello'] })
  await expectAccessible(page)
  for (const name of ['Leave', 'Send', 'Follow']) await shown.getByText(name).click()
  await page.getByLabel('Source').fill('<p>New</p>')
  await shown.getByText('New').waitFor()
  expect([asked, new URL(page.url()).pathname]).toEqual([[], '/console'])
  await page.close()
})
