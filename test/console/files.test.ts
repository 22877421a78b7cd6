import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { administer } from '../support/administration.ts'
import { expectAccessible, test } from './support/console.ts'
import { choose, confirm, details, focusedLabel, follow, grid, notice, press, refusal, row } from './support/page.ts'

const chosen = (page: Page) => page.locator('.grid [aria-selected=true] bdi')

test('a folder is browsed, and a range is selected, with only the keyboard (K-7)', async ({ openFolder, folder }) => {
  const page = await openFolder(['a.txt', 'b.txt', 'c.txt', 'd.txt', 'sub/e.txt'])
  await grid(page).focus()
  await press(page, 'ArrowDown', 'ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowDown')
  expect(await chosen(page).allTextContents()).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt'])
  await press(page, 'Shift+ArrowUp')
  expect(await chosen(page).allTextContents()).toEqual(['a.txt', 'b.txt', 'c.txt'])
  await press(page, 'Shift+Home')
  expect(await chosen(page).allTextContents()).toEqual(['sub', 'a.txt'])
  await press(page, 'Shift+ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowDown')
  await press(page, 'Control+End', 'Space')
  expect(await chosen(page).allTextContents()).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt'])
  await press(page, 'Escape')
  expect(await chosen(page).count()).toBe(0)
  await press(page, 'Control+a')
  expect(await chosen(page).count()).toBe(5)
  await press(page, 's', 'Enter')
  await row(page, 'e.txt').waitFor()
  expect(page.url()).toContain(`${folder}/sub`)
  await press(page, 'Backspace')
  await row(page, 'd.txt').waitFor()
})

test('arrow keys open and close folders of the tree, and Enter selects one (K-7)', async ({ openFolder, folder }) => {
  const page = await openFolder(['one/two/deep.txt'])
  const tree = page.getByRole('tree')
  await tree.getByRole('treeitem', { name: folder }).waitFor()
  await row(page, 'one').waitFor()
  await tree.focus()
  await press(page, 'ArrowRight')
  await tree.getByRole('treeitem', { name: 'one', exact: true }).waitFor()
  await press(page, 'ArrowRight', 'ArrowRight')
  await tree.getByRole('treeitem', { name: 'two', exact: true }).waitFor()
  await press(page, 'ArrowDown', 'Enter')
  await row(page, 'deep.txt').waitFor()
})

test('files are renamed, moved and copied with only the keyboard (K-10)', async ({ openFolder, client, folder }) => {
  const page = await openFolder(['draft of a letter.txt'])
  await row(page, 'draft of a letter.txt').waitFor()
  await page.getByRole('button', { name: 'New folder' }).press('Enter')
  await page.getByLabel('Folder name').waitFor()
  await expectAccessible(page)
  await page.keyboard.type('letters')
  await press(page, 'Enter')
  await row(page, 'letters').waitFor()
  await grid(page).focus()
  await press(page, 'End', 'F2')
  await page.getByLabel('New name').waitFor()
  await page.keyboard.type('letter')
  await press(page, 'Enter')
  await row(page, 'letter.txt').waitFor()
  await grid(page).focus()
  const changes: (string | null)[] = []
  page.on('request', (request) => request.method() === 'PUT' && changes.push(request.postData()))
  // A paste in the folder of the cut files changes nothing.
  await press(page, 'Control+x', 'Control+v')
  await press(page, 'Control+c', 'l', 'Home', 'Enter')
  await page.getByText('This folder is empty').waitFor()
  await press(page, 'Control+v')
  await row(page, 'letter.txt').waitFor()
  expect(changes).toEqual([JSON.stringify({ copyTo: `${folder}/letters/letter.txt` })])
  await row(page, 'letter.txt').click()
  await page.getByRole('button', { name: 'Move to' }).press('Enter')
  const picker = page.getByRole('group', { name: 'Target folder' })
  await picker.getByRole('button', { name: `Up to ${folder}` }).press('Enter')
  await picker.getByRole('button', { name: 'letters' }).waitFor()
  expect(await picker.getByRole('status').textContent()).toBe(`/${folder}`)
  await expectAccessible(page)
  await page.getByLabel('New folder here').fill('LETTERS')
  await press(page, 'Enter')
  await page.getByRole('alert').getByText('This name is taken.').waitFor()
  await page.getByLabel('New folder here').fill('archive')
  await press(page, 'Enter')
  await notice(page, 'letter.txt moved to archive.').waitFor()
  expect((await client.files.stat(`${folder}/archive/letter.txt`)).size).toBe(21)
  expect((await client.files.stat(`${folder}/letter.txt`)).size).toBe(21)
})

test('after a sign-out, nobody can undo the last action or read its notice (K-6)', async ({ openFolder }) => {
  const page = await openFolder(['a.txt'])
  await row(page, 'a.txt').click()
  await press(page, 'Delete')
  await confirm(page, 'Delete')
  await notice(page, 'a.txt deleted.').waitFor()
  await choose(page, 'Settings', 'Sign out')
  await page.getByLabel('Password').waitFor()
  // By itself, the notice would stay for twelve seconds.
  await expect.poll(() => page.getByRole('button', { name: 'Undo' }).count(), { timeout: 5000 }).toBe(0)
})

test('a new name is free and has no slash; the entry gets focus (K-25)', async ({ openFolder, client, folder }) => {
  const page = await openFolder(['a.txt', 'b.txt'])
  await row(page, 'a.txt').click()
  await press(page, 'F2')
  const field = page.getByLabel('New name')
  await field.fill('b.txt')
  await press(page, 'Enter')
  expect(await page.getByRole('dialog').getByRole('alert').textContent()).toMatch(/^This name is taken/)
  await field.fill('sub/a.txt')
  await press(page, 'Enter')
  const reason = await field.evaluate((shown) => shown instanceof HTMLInputElement && shown.validationMessage)
  expect(reason).toMatch(/slash/)
  await field.fill('c.txt')
  await press(page, 'Enter')
  await row(page, 'c.txt').waitFor()
  expect((await client.files.stat(`${folder}/c.txt`)).size).toBe(5)
  await page.getByRole('button', { name: 'New folder' }).press('Enter')
  const folderName = page.getByLabel('Folder name')
  await folderName.fill('  ')
  expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true)
  await folderName.fill('b.txt')
  await press(page, 'Enter')
  await page.getByRole('alert').getByText('This name is taken.').waitFor()
  await folderName.fill('new')
  await press(page, 'Enter')
  await expect.poll(() => grid(page).locator('.is-active').textContent()).toContain('new')
  await expect.poll(() => focusedLabel(page)).toBe('Files and folders')
})

test.for([
  { start: 'Delete', url: /\/storage\//, method: 'DELETE', notices: ['5 of 7 deleted.', '5 items restored.'] },
  { start: 'Move', url: /\?meta/, method: 'PUT', notices: ['5 of 7 moved to b.', '5 items moved to folder-'] },
])(
  'A running task shows its progress, and Cancel stops it: $start (K-24)',
  async ({ start, url, method, notices: [part = '', undone = ''] }, { openFolder }) => {
    const page = await openFolder(Array.from({ length: 7 }, (_, index) => `${index}.txt`))
    const isCancelled = Promise.withResolvers<void>()
    let begun = 0
    await page.route(url, async (route) => {
      if (route.request().method() === method && ++begun > 1) await isCancelled.promise
      await route.fallback()
    })
    await row(page, '0.txt').click()
    await press(page, 'Control+a')
    await page.getByRole('toolbar').getByRole('button', { name: start }).press('Enter')
    if (start === 'Move') await page.getByLabel('New folder here').fill('b')
    await page.getByRole('dialog').getByRole('button', { name: start, exact: true }).click()
    await expect.poll(() => begun).toBe(5)
    await page.locator('progress[value="1"][max="7"]').waitFor()
    await confirm(page, 'Cancel')
    isCancelled.resolve()
    await notice(page, part).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await notice(page, undone).waitFor()
    for (let index = 0; index < 7; index++) await row(page, `${index}.txt`).waitFor()
  },
)

test('many files are counted without a request for each of them (K-12)', async ({ openFolder, service, folder }) => {
  const names = Array.from({ length: 60 }, (_, index) => `${index}.txt`)
  const page = await openFolder([...names, 'album/photo.txt', 'page.html'])
  await administer(service.directory, ['workflow', 'start', `${folder}/page.html`, '--site', '1001'])
  await row(page, '0.txt').waitFor()
  const asked: string[] = []
  page.on('request', (request) => request.url().includes('?removal') && asked.push(request.url()))
  await grid(page).focus()
  await press(page, 'Control+a', 'Delete')
  await page.getByText('This deletes 62 files and 1 folder, 374 B in all.').waitFor()
  expect(asked).toHaveLength(2)
  await page.getByText('page.html: A running workflow prevents the deletion').waitFor()
})

test('a failure stays when more notices follow than the page shows', async ({ openFolder }) => {
  const page = await openFolder(['a.txt'])
  await page.route('**/storage/**?link=', refusal(507, 100507, 'The disk is full.'))
  await row(page, 'a.txt').click()
  await page.getByRole('button', { name: 'Download' }).click()
  await notice(page, 'The disk is full.').waitFor()
  for (let count = 0; count < 3; count++) await choose(page, 'More actions', 'Copy path')
  await expect.poll(() => notice(page, 'Path copied.').count()).toBe(3)
  await grid(page).focus()
  await press(page, 'F2')
  await page.getByLabel('New name').fill('b.txt')
  await press(page, 'Enter')
  await notice(page, 'a.txt renamed to b.txt.').waitFor()
  expect(await notice(page, 'The disk is full.').count()).toBe(1)
})

test('Undo whose answer was lost succeeds when it is tried again (K-24)', async ({ openFolder }) => {
  const page = await openFolder(['a.txt', 'album/b.txt'])
  let isLost = true
  await page.route('**/storage/**?restore=', async (route) => {
    const response = await route.fetch()
    const timeout = { status: 504, json: { message: 'Endpoint request timed out' } }
    return route.fulfill(isLost ? timeout : { response })
  })
  await row(page, 'a.txt').click()
  await press(page, 'Control+a', 'Delete')
  await page.getByText('This deletes').waitFor()
  await confirm(page, 'Delete')
  await notice(page, '2 items deleted.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await notice(page, /and 1 more: The service did not answer\./).waitFor()
  isLost = false
  await page.getByLabel('Notices').getByRole('button', { name: 'Try again' }).click()
  await notice(page, '2 items restored.').waitFor()
})

test('a page leaves a folder that somebody else renames or deletes (K-7)', async ({ open, client, folder }) => {
  await client.files.put(`${folder}/one/two/a.txt`, 'a')
  const page = await open(`#/1001/files/${folder}/one/two`)
  await row(page, 'a.txt').waitFor()
  await client.files.move(`${folder}/one`, `${folder}/new`)
  await notice(page, 'two was moved, renamed or deleted.').waitFor()
  await row(page, 'new').getByRole('link').click()
  await row(page, 'two').waitFor()
  await client.files.remove(`${folder}/new`)
  await notice(page, 'new was moved, renamed or deleted.').waitFor()
  await page.getByText('This folder is empty').waitFor()
  expect(page.url()).toMatch(new RegExp(`${folder}$`))
})

test('the page says for how long the service keeps deleted files (H-14)', async ({ start, open }) => {
  const service = await start(undefined, { KEPT_DAYS: '7' })
  const page = await open('#/1001/files', { token: service.token, baseUrl: service.baseUrl })
  await row(page, 'hello.txt').click()
  await press(page, 'Delete')
  await page.getByText('You can restore deleted items for 7 days.').waitFor()
  await press(page, 'Escape')
  await page.getByRole('link', { name: 'Deleted files' }).click()
  await page.getByText('Nothing was deleted from this site in the last 7 days.').waitFor()
})

test('the panel restores a version once on a double click (K-11)', async ({ openFolder, client, service, folder }) => {
  const path = `${folder}/page.html`
  await client.files.put(path, '<p>first</p>')
  await client.files.put(path, '<p>second</p>', { replace: true })
  const draft = `/api/v2/admin/sites/1001/storage/${path}?version=draft`
  await service.request(draft, { method: 'PUT', body: '<p>draft</p>' })
  const page = await openFolder()
  await row(page, 'page.html').getByRole('link').click()
  await details(page).getByText('<p>second</p>').waitFor()
  await expectAccessible(page)
  await details(page).getByRole('button', { name: 'Show the draft' }).click()
  await details(page).getByText('<p>draft</p>').waitFor()
  await details(page).getByRole('button', { name: 'Discard the draft' }).click()
  await confirm(page, 'Discard')
  await notice(page, 'Draft of page.html discarded.').waitFor()
  await details(page).getByText('<p>second</p>').waitFor()
  const isClickedTwice = Promise.withResolvers<void>()
  await page.route(/\?restore/, async (route) => {
    await isClickedTwice.promise
    await route.fallback()
  })
  await details(page)
    .getByRole('button', { name: /^Restore the version/ })
    .dblclick()
  isClickedTwice.resolve()
  await details(page).getByText('<p>first</p>').waitFor()
  expect(await Array.fromAsync(client.files.versions(path))).toHaveLength(3)
  expect(await (await client.files.read(path)).text()).toBe('<p>first</p>')
})

test('the details panel requests only the versions of the open file', async ({ openFolder, folder }) => {
  const page = await openFolder(['a.txt', 'b.txt'])
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (search.startsWith('?versions')) asked.push(pathname.replace(/.*\/storage/, ''))
  })
  for (const name of ['a.txt', 'b.txt']) {
    await row(page, name).getByRole('link').click()
    await details(page).getByRole('heading', { name }).waitFor()
    await details(page).getByText('There are no other versions.').waitFor()
  }
  for (const file of ['', folder]) {
    const answered = page.waitForResponse(/storage[^?]*\?meta=(&limit=1)?$/)
    await follow(page, `#/1001/files?file=${file}`)
    await answered
    await details(page).getByText('Size').waitFor()
  }
  expect(new Set(asked)).toEqual(new Set([`/${folder}/a.txt`, `/${folder}/b.txt`]))
})

test('the details follow a renamed file, and close after a move or removal', async ({ openFolder, client, folder }) => {
  const page = await openFolder(['a.txt', 'b.txt', 'c.txt', 'other/d.txt'])
  const panel = details(page)
  const bar = page.getByRole('toolbar')
  const openFile = async (name: string) => {
    await row(page, name).getByRole('link').click()
    await panel.getByText('There are no other versions.').waitFor()
  }
  // The page receives changes in order: when it shows the next file, it has also received its own change. The panel
  // must not read a file that is missing.
  const change = async (make: () => Promise<void>, message: string) => {
    await make()
    await notice(page, message).waitFor()
    await client.files.put(`${folder}/after ${message}`, '')
    await row(page, `after ${message}`).waitFor()
  }
  const remove = async () => {
    await bar.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('This deletes').waitFor()
    await confirm(page, 'Delete')
  }
  const expectClosed = async () => {
    await expect.poll(() => panel.count()).toBe(0)
    expect(page.url()).not.toContain('file=')
    expect(await page.getByRole('alert').count()).toBe(0)
  }

  await openFile('a.txt')
  await change(async () => {
    await bar.getByRole('button', { name: 'Rename' }).click()
    await page.getByLabel('New name').fill('z.txt')
    await press(page, 'Enter')
  }, 'a.txt renamed to z.txt.')
  await panel.getByRole('heading', { name: 'z.txt' }).waitFor()
  await panel.getByText('There are no other versions.').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(page.url()).toContain('file=z.txt')

  await openFile('b.txt')
  await change(remove, 'b.txt deleted.')
  await expectClosed()
  await openFile('c.txt')
  await change(() => row(page, 'c.txt').dragTo(row(page, 'other')), 'c.txt moved to other.')
  await expectClosed()

  // The panel ignores changes of other files.
  await openFile('z.txt')
  await row(page, 'other').getByRole('checkbox').check()
  await row(page, 'z.txt').getByRole('checkbox').uncheck()
  await remove()
  await row(page, 'other').waitFor({ state: 'detached' })
  expect(await panel.getByRole('heading', { name: 'z.txt' }).count()).toBe(1)
})

test('Back selects the file that the details show again', async ({ openFolder }) => {
  const page = await openFolder(['a.txt', 'b.txt'])
  for (const name of ['a.txt', 'b.txt']) {
    await row(page, name).getByRole('link').click()
    await details(page).getByRole('heading', { name }).waitFor()
  }
  await page.goBack()
  await details(page).getByRole('heading', { name: 'a.txt' }).waitFor()
  await expect.poll(() => chosen(page).allTextContents()).toEqual(['a.txt'])
  await press(page, 'Delete')
  await page.getByRole('dialog', { name: 'Delete a.txt?' }).waitFor()
})

test('an address in another case opens the folder in its own spelling', async ({ open, client, folder }) => {
  await client.files.put(`${folder}/News/a.txt`, 'a')
  await client.files.createFolder(`${folder}/News/Empty`)
  const page = await open(`#/1001/files/${folder}/NEWS?file=a.txt`)
  await expect.poll(() => page.url()).toMatch(/\/News\?file=a\.txt$/)
  await details(page).getByRole('heading', { name: 'a.txt' }).waitFor()
  await follow(page, `#/1001/files/${folder}/news/EMPTY`)
  await expect.poll(() => page.url()).toMatch(/\/News\/Empty$/)
})

test('a double click opens only one folder', async ({ openFolder, folder }) => {
  const page = await openFolder(['one/two/three/a.txt'])
  /** The list of the opened folder appears between the two clicks. */
  const clickTwice = async (place: Locator, next: Locator) => {
    const { x, y, width, height } = (await place.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    await page.mouse.move(x + width / 2, y + height / 2)
    for (const clickCount of [1, 2]) {
      await page.mouse.down({ clickCount })
      await page.mouse.up({ clickCount })
      await next.waitFor()
    }
  }
  await clickTwice(row(page, 'one').getByText('one'), row(page, 'two').getByText('two'))
  expect(page.url()).toMatch(new RegExp(`${folder}/one$`))
  await row(page, 'two').getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Move to' }).press('Enter')
  const picker = page.getByRole('group', { name: 'Target folder' })
  const up = picker.getByRole('button', { name: /^Up to/ })
  await up.press('Enter')
  // When the list is there, the dialog has its size, and the button its place.
  await picker.getByRole('button', { name: 'one', exact: true }).waitFor()
  // The list shows only its first rows, and other cases may have many folders.
  await clickTwice(up, picker.getByRole('button', { name: /^(?!Up to|one$)/ }).first())
  expect(await picker.getByRole('status').textContent()).toBe('All files')
})

test('while entries are selected, the user can still upload and create folders', async ({ openFolder }) => {
  const page = await openFolder(['a.txt'])
  await row(page, 'a.txt').click()
  await page.getByText('1 selected').waitFor()
  await page.getByRole('button', { name: 'More actions', exact: true }).click()
  await page.getByRole('menu').waitFor()
  await expectAccessible(page)
  await press(page, 'Escape')
  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Upload', exact: true }).click()
  await (await choosing).setFiles([{ name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('b') }])
  await row(page, 'b.txt').waitFor()
  await page.getByRole('button', { name: 'New folder' }).click()
  await page.getByLabel('Folder name').fill('sub')
  await press(page, 'Enter')
  await row(page, 'sub').waitFor()
})

test('the panel shows a picture, and downloads any file (K-11)', async ({ open, client, folder }) => {
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>'
  await client.files.put(`${folder}/dot.svg`, picture)
  const page = await open(`#/1001/files/${folder}?file=dot.svg`)
  const image = page.getByRole('img', { name: 'dot.svg' })
  await image.waitFor()
  await expect.poll(() => image.evaluate((seen) => seen instanceof HTMLImageElement && seen.naturalWidth)).toBe(8)
  const downloading = page.waitForEvent('download')
  await details(page).getByRole('button', { name: 'Download' }).click()
  expect((await downloading).suggestedFilename()).toBe('dot.svg')
  await client.files.put(`${folder}/damaged.png`, 'not a picture')
  await row(page, 'damaged.png').getByRole('link').click()
  await details(page).getByText('No preview is available for this file.').waitFor()
})

test('a version that arrives after a sign-out is not saved (K-6)', async ({ open, client, folder }) => {
  const path = `${folder}/a.txt`
  await client.files.put(path, 'first')
  await client.files.put(path, 'second', { replace: true })
  const page = await open(`#/1001/files/${folder}?file=a.txt`)
  await page.evaluate(() => {
    const { dataset } = document.body
    const read = Response.prototype.blob
    Response.prototype.blob = async function () {
      const bytes = await read.call(this)
      dataset.version = 'held'
      await new Promise((resolve) => addEventListener('release', resolve, { once: true }))
      return bytes
    }
    HTMLAnchorElement.prototype.click = function () {
      dataset.version = this.download
    }
  })
  const download = async () => {
    await details(page)
      .getByRole('button', { name: /^Download the version/ })
      .click()
    await page.locator('body[data-version=held]').waitFor()
  }
  const release = () =>
    page.evaluate(async () => {
      dispatchEvent(new Event('release'))
      await new Promise((resolve) => setTimeout(resolve))
      return document.body.dataset.version
    })
  await download()
  expect(await release()).toBe('a.txt')
  await download()
  await choose(page, 'Settings', 'Sign out')
  await page.getByLabel('Password').waitFor()
  expect(await release()).toBe('held')
})

test('a folder shows the number of its entries after a visit (K-51)', async ({ openFolder, client, folder }) => {
  for (const name of ['a', 'b']) await client.files.put(`${folder}/sub/${name}.txt`, name)
  const page = await openFolder(['0.txt'])
  await row(page, '0.txt').waitFor()
  // A page that begins to follow changes gets the newest ones again. They must not arrive after the visit.
  await client.files.put(`${folder}/1.txt`, '1')
  await row(page, '1.txt').waitFor()
  await row(page, 'sub').getByRole('link').click()
  await row(page, 'a.txt').waitFor()
  await grid(page).press('Backspace')
  await row(page, 'sub').getByText('2 items').waitFor()
  await client.files.put(`${folder}/sub/c.txt`, 'c')
  await row(page, 'sub').getByText('2 items').waitFor({ state: 'detached' })
})

test('a list of ten thousand rows draws the visible rows, and prints half of them', async ({ open, folder }) => {
  const page = await open()
  await grid(page).waitFor()
  const rest = { type: 'file', size: 1, lastModified: '2026-01-01T00:00:00Z', links: [] }
  const contents = Array.from({ length: 10_000 }, (_, index) => ({ name: `file ${index}.txt`, ...rest }))
  await page.route(`**/storage/${folder}?meta=`, (route) =>
    route.fulfill({ json: { ...rest, name: folder, type: 'folder', contents } }),
  )
  await follow(page, `#/1001/files/${folder}`)
  await row(page, 'file 0.txt').waitFor()
  expect(await grid(page).getByRole('row').count()).toBeLessThan(80)
  await grid(page).focus()
  await press(page, 'End')
  await row(page, 'file 9999.txt').waitFor()
  expect(await grid(page).getAttribute('aria-rowcount')).toBe('10001')
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  await page.getByText('+ 4,992 items').waitFor()
  expect(await grid(page).getByRole('row').count()).toBe(5_009)
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  await row(page, 'file 9999.txt').waitFor()
  await expect.poll(() => grid(page).getByRole('row').count()).toBeLessThan(80)
})
