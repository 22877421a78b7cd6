import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { test } from './support/console.ts'

const grid = (page: Page): Locator => page.getByRole('grid')
const row = (page: Page, name: string): Locator =>
  grid(page)
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name, exact: true }) })
const chosen = (page: Page): Locator => page.locator('.grid [aria-selected=true] bdi')
const notice = (page: Page, text: string): Locator => page.getByLabel('Notices').getByText(text)

const seed = (
  client: { files: { put(path: string, text: string): Promise<void> } },
  folder: string,
  names: readonly string[],
) => Promise.all(names.map((name) => client.files.put(`${folder}/${name}`, name)))

test('a folder is browsed, and ranges are selected, by keyboard alone (K-7)', async ({ open, client, folder }) => {
  await seed(client, folder, ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'sub/e.txt'])
  const page = await open(`#/1001/files/${folder}`)
  await grid(page).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Shift+ArrowDown')
  expect(await chosen(page).allTextContents()).toEqual(['a.txt', 'b.txt', 'c.txt'])
  await page.keyboard.press('Control+End')
  await page.keyboard.press('Space')
  expect(await chosen(page).allTextContents()).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt'])
  await page.keyboard.press('Escape')
  expect(await chosen(page).count()).toBe(0)
  await page.keyboard.press('Control+a')
  expect(await chosen(page).count()).toBe(5)
  await page.keyboard.press('s')
  await page.keyboard.press('Enter')
  await row(page, 'e.txt').waitFor()
  expect(page.url()).toContain(`${folder}/sub`)
  await page.keyboard.press('Backspace')
  await row(page, 'd.txt').waitFor()
})

test('arrow keys open and close folders of the tree, and select one (K-7)', async ({ open, client, folder }) => {
  await seed(client, folder, ['one/two/deep.txt'])
  const page = await open(`#/1001/files/${folder}`)
  const tree = page.getByRole('tree')
  await tree.getByRole('treeitem', { name: folder }).waitFor()
  await row(page, 'one').waitFor()
  await tree.focus()
  await page.keyboard.press('ArrowRight')
  await tree.getByRole('treeitem', { name: 'one', exact: true }).waitFor()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await tree.getByRole('treeitem', { name: 'two', exact: true }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await row(page, 'deep.txt').waitFor()
})

test('a folder is created, and a file is renamed, moved and copied, by keyboard alone (K-10)', async ({
  open,
  client,
  folder,
}) => {
  await seed(client, folder, ['draft of a letter.txt'])
  const page = await open(`#/1001/files/${folder}`)
  await row(page, 'draft of a letter.txt').waitFor()
  await page.getByRole('button', { name: 'New folder' }).press('Enter')
  await page.keyboard.type('letters')
  await page.keyboard.press('Enter')
  await row(page, 'letters').waitFor()
  await grid(page).focus()
  await page.keyboard.press('End')
  await page.keyboard.press('F2')
  await page.keyboard.type('letter')
  await page.keyboard.press('Enter')
  await row(page, 'letter.txt').waitFor()
  await grid(page).focus()
  await page.keyboard.press('Control+c')
  await page.keyboard.press('l')
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await page.getByText('This folder is empty').waitFor()
  await page.keyboard.press('Control+v')
  await row(page, 'letter.txt').waitFor()
  await row(page, 'letter.txt').click()
  await page.getByRole('button', { name: 'Move to' }).press('Enter')
  await page.getByLabel('Target folder').fill(`/${folder}/archive/2026`)
  await page.keyboard.press('Enter')
  await notice(page, '1 item moved.').waitFor()
  expect((await client.files.stat(`${folder}/archive/2026/letter.txt`)).size).toBe(21)
  expect((await client.files.stat(`${folder}/letter.txt`)).size).toBe(21)
})

test('a taken name is refused with the message of the service, beside the input', async ({ open, client, folder }) => {
  await seed(client, folder, ['a.txt', 'b.txt'])
  const page = await open(`#/1001/files/${folder}`)
  await row(page, 'a.txt').click()
  await page.keyboard.press('F2')
  await page.getByLabel('New name').fill('b.txt')
  await page.keyboard.press('Enter')
  expect(await page.getByRole('dialog').getByRole('alert').textContent()).toMatch(/name is taken/i)
  await page.getByLabel('New name').fill('c.txt')
  await page.keyboard.press('Enter')
  await row(page, 'c.txt').waitFor()
})

test('a removal shows its size, and undo restores it (K-12)', async ({ open, client, folder }) => {
  await seed(client, folder, ['album/one.txt', 'album/two/three.txt'])
  const page = await open(`#/1001/files/${folder}`)
  await row(page, 'album').click()
  await page.keyboard.press('Delete')
  await page.getByText('This deletes 2 files and 2 folders, 32 B in all.').waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).last().click()
  await page.getByText('This folder is empty').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await row(page, 'album').waitFor()
  expect((await client.files.stat(`${folder}/album/two/three.txt`)).size).toBe(19)
})

test('the deleted entries of a folder are listed and restored', async ({ open, client, folder }) => {
  await seed(client, folder, ['here.txt', 'gone.txt'])
  await client.files.remove(`${folder}/gone.txt`)
  const page = await open(`#/1001/files/${folder}`)
  await row(page, 'here.txt').waitFor()
  await page.getByRole('button', { name: 'More actions', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Deleted files' }).click()
  await page.getByRole('button', { name: 'Restore gone.txt' }).click()
  await page.getByText('Nothing was deleted').waitFor()
  await page.keyboard.press('Escape')
  await row(page, 'gone.txt').waitFor()
})

test('a removal shows for how many days it can be undone (H-14)', async ({ start, open }) => {
  const service = await start([], { KEPT_DAYS: '7' })
  const page = await open('#/1001/files', { token: service.token, baseUrl: service.baseUrl })
  await grid(page).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Delete')
  await page.getByText('You can restore deleted items for 7 days.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'More actions', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Deleted files' }).click()
  await page.getByText('Nothing was deleted from this folder in the last 7 days.').waitFor()
})

test('a page is shown with its draft and its versions, and an older version is restored (K-11)', async ({
  open,
  client,
  service,
  folder,
}) => {
  const path = `${folder}/page.html`
  await client.files.put(path, '<p>first</p>')
  await client.files.put(path, '<p>second</p>', { replace: true })
  await service.request(`/api/v2/admin/sites/1001/storage/${path}?version=draft`, {
    method: 'PUT',
    body: '<p>draft</p>',
  })
  const page = await open(`#/1001/files/${folder}`)
  await row(page, 'page.html').getByRole('link').click()
  const details = page.getByRole('complementary', { name: 'Details' })
  await details.getByText('<p>second</p>').waitFor()
  await details.getByRole('button', { name: 'Show the draft' }).click()
  await details.getByText('<p>draft</p>').waitFor()
  await details.getByRole('button', { name: 'Discard the draft' }).click()
  await page.getByRole('button', { name: 'Discard', exact: true }).click()
  await details.getByText('<p>second</p>').waitFor()
  await details.getByRole('button', { name: /^Restore the version/ }).click()
  await details.getByText('<p>first</p>').waitFor()
  expect(await (await client.files.read(path)).text()).toBe('<p>first</p>')
})

test('the details panel asks for versions of the open file only', async ({ open, client, folder }) => {
  await seed(client, folder, ['a.txt', 'b.txt'])
  const page = await open(`#/1001/files/${folder}?file=a.txt`)
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (search.startsWith('?versions')) asked.push(pathname.replace(/.*\/storage/, ''))
  })
  const details = page.getByRole('complementary', { name: 'Details' })
  await details.getByText('There are no other versions.').waitFor()
  await row(page, 'b.txt').getByRole('link').click()
  await details.getByRole('heading', { name: 'b.txt' }).waitFor()
  await details.getByText('There are no other versions.').waitFor()
  for (const hash of ['#/1001/files?file=', `#/1001/files?file=${folder}`]) {
    const answered = page.waitForResponse(/storage[^?]*\?meta=$/)
    await page.evaluate((wanted) => {
      location.hash = wanted
    }, hash)
    await answered
    await details.getByText('Size').waitFor()
  }
  expect(asked.filter((path) => path !== `/${folder}/a.txt` && path !== `/${folder}/b.txt`)).toEqual([])
})

test('the details panel follows a renamed file, and closes for one that is moved or deleted', async ({
  open,
  client,
  folder,
}) => {
  await seed(client, folder, ['a.txt', 'b.txt', 'c.txt', 'other/d.txt'])
  const page = await open(`#/1001/files/${folder}`)
  const panel = page.getByRole('complementary', { name: 'Details' })
  const bar = page.getByRole('toolbar')
  // The history reports the change of the page itself: the panel must not read a missing file.
  const told = () =>
    page.waitForResponse(async (answer) => /changes\?.*after=/.test(answer.url()) && /"id"/.test(await answer.text()))
  const openFile = async (name: string) => {
    await row(page, name).getByRole('link').click()
    await panel.getByText('There are no other versions.').waitFor()
  }
  const expectClosed = async () => {
    await expect.poll(() => panel.count()).toBe(0)
    expect(page.url()).not.toContain('file=')
    expect(await page.getByRole('alert').count()).toBe(0)
  }

  await openFile('a.txt')
  const renamed = told()
  await bar.getByRole('button', { name: 'Rename' }).click()
  await page.getByLabel('New name').fill('z.txt')
  await page.keyboard.press('Enter')
  await notice(page, 'Renamed to z.txt.').waitFor()
  await panel.getByRole('heading', { name: 'z.txt' }).waitFor()
  await renamed
  await panel.getByText('There are no other versions.').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(page.url()).toContain('file=z.txt')

  await openFile('b.txt')
  const removed = told()
  await bar.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('This deletes 1 file').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await notice(page, '1 item deleted.').waitFor()
  await removed
  await expectClosed()

  await openFile('c.txt')
  const moved = told()
  await row(page, 'c.txt').dragTo(row(page, 'other'))
  await notice(page, '1 item moved.').waitFor()
  await moved
  await expectClosed()

  // Of several changes, only those of the open file count.
  await openFile('z.txt')
  await row(page, 'other').getByRole('checkbox').check()
  await row(page, 'z.txt').getByRole('checkbox').uncheck()
  await page.keyboard.press('Delete')
  await page.getByText('This deletes 2 files').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await row(page, 'other').waitFor({ state: 'detached' })
  expect(await panel.getByRole('heading', { name: 'z.txt' }).count()).toBe(1)
})

test('a folder accepts uploads and new folders during a selection', async ({ open, client, folder }) => {
  await seed(client, folder, ['a.txt'])
  const page = await open(`#/1001/files/${folder}`)
  await row(page, 'a.txt').click()
  await page.getByText('1 selected').waitFor()
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Upload' }).click(),
  ])
  await chooser.setFiles([{ name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('b') }])
  await row(page, 'b.txt').waitFor()
  await page.getByRole('button', { name: 'New folder' }).click()
  await page.getByLabel('Folder name').fill('sub')
  await page.keyboard.press('Enter')
  await row(page, 'sub').waitFor()
})

test('a picture is shown, and any file can be downloaded (K-11)', async ({ open, client, folder }) => {
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>'
  await client.files.put(`${folder}/dot.svg`, picture)
  const page = await open(`#/1001/files/${folder}?file=dot.svg`)
  const image = page.getByRole('img', { name: 'dot.svg' })
  await image.waitFor()
  await expect.poll(() => image.evaluate((seen) => seen instanceof HTMLImageElement && seen.naturalWidth)).toBe(8)
  const downloading = page.waitForEvent('download')
  await page.getByRole('complementary').getByRole('button', { name: 'Download' }).click()
  expect((await downloading).suggestedFilename()).toBe('dot.svg')
})

test('changes of other people appear, and the selection stays', async ({ open, client, folder }) => {
  await seed(client, folder, ['a.txt', 'b.txt', 'c.txt'])
  const page = await open(`#/1001/files/${folder}`)
  await row(page, 'b.txt').click()
  await client.files.remove(`${folder}/a.txt`)
  await client.files.put(`${folder}/new.txt`, 'new')
  await row(page, 'new.txt').waitFor()
  await row(page, 'a.txt').waitFor({ state: 'detached' })
  expect(await chosen(page).allTextContents()).toEqual(['b.txt'])
})

test('a list of ten thousand rows has only the visible ones, and the last one can be reached', async ({
  open,
  folder,
}) => {
  const page = await open()
  await grid(page).waitFor()
  const contents = Array.from({ length: 10_000 }, (_, index) => ({
    name: `file ${index}.txt`,
    type: 'file',
    size: index,
    lastModified: '2026-01-01T00:00:00Z',
    links: [],
  }))
  await page.route(`**/storage/${folder}?meta=`, (route) =>
    route.fulfill({ json: { name: folder, type: 'folder', size: 0, lastModified: null, links: [], contents } }),
  )
  await page.evaluate((hash) => {
    location.hash = hash
  }, `#/1001/files/${folder}`)
  await row(page, 'file 0.txt').waitFor()
  expect(await grid(page).getByRole('row').count()).toBeLessThan(80)
  await grid(page).focus()
  await page.keyboard.press('End')
  await row(page, 'file 9999.txt').waitFor()
  expect(await grid(page).getAttribute('aria-rowcount')).toBe('10001')
})
