import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'
import { acceptInvitation, connect, signIn, type UserCreation } from '../../client/src/index.ts'
import { administerJson } from '../support/administration.ts'
import { startIdentityProvider } from '../support/identity-provider.ts'
import { listenInTest } from '../support/listen.ts'
import { test as base, expectAccessible } from './support/console.ts'
import {
  choose,
  confirm,
  details,
  follow,
  grid,
  hasFocus,
  nameField,
  notice,
  press,
  refusal,
  row,
  signInAs,
  widthOf,
  signIn as withToken,
} from './support/page.ts'

const password = 'correct horse battery'
const everything = ['files', 'forms', 'categories', 'history', 'access'].flatMap((area) => ['--right', `${area}:write`])

/** A service whose demo site has an owner, with calls that invite people and let them accept. */
const test = base.extend('people', async ({ host, directory, open: openPage }) => {
  const { baseUrl } = await host({ allowPrivateWebhooks: true })
  const issuing = ['token', 'issue', '--user', 'operator', '--site', '1001', ...everything]
  const { token } = await administerJson(directory, issuing)
  const { access, files } = await connect({ url: baseUrl, token })
  const invite = async (person: UserCreation): Promise<string> => {
    const { invitation = '' } = await access.people.add(person)
    return decodeURIComponent(invitation.split('#invitation=')[1] ?? '')
  }
  const add = async (person: UserCreation) =>
    acceptInvitation({ url: baseUrl, invitation: await invite(person), password })
  /** A page of this service, by default with the token of an operator. */
  const open = (hash: string, options = {}) => openPage(hash, { token, baseUrl, ...options })
  /** A page of a new person. */
  const openAs = async (person: UserCreation, hash: string, options = {}) =>
    open(hash, { token: await add(person), ...options })
  return { baseUrl, token, access, files, invite, add, open, openAs }
})

const views = (page: Page) => page.getByRole('navigation', { name: 'Views' }).getByRole('link').allTextContents()
const person = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) })
const kept = (page: Page) =>
  page.evaluate(() => [sessionStorage, localStorage].map((store) => store.getItem('site-admin-token')))
const me = (baseUrl: string, token: string | null | undefined) =>
  fetch(`${baseUrl}/api/v2/admin/me`, { headers: { Authorization: String(token) } })

test('a person accepts an invitation with the keyboard, and is signed in (K-28)', async ({ people }) => {
  const invitation = await people.invite({ name: 'ann', role: 'editor' })
  const page = await people.open(`#invitation=${invitation}`, { token: null })
  const dialog = page.getByRole('dialog', { name: 'Welcome, ann' })
  await dialog.waitFor()
  expect(page.url()).toBe(`${people.baseUrl}/console`)
  await page.keyboard.type('short')
  await press(page, 'Tab')
  await page.keyboard.type('short')
  await press(page, 'Enter')
  await dialog.getByRole('alert').getByText('12').waitFor()
  await dialog.getByLabel('New password', { exact: true }).fill(password)
  await dialog.getByLabel('Repeat the new password').fill(`${password}.`)
  await dialog.getByText('The two passwords differ.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Accept' }).isDisabled()).toBe(true)
  await press(page, 'Backspace', 'Enter')
  await grid(page).waitFor()
  expect(await views(page)).toEqual(['Files', 'Deleted files', 'Forms', 'Categories', 'History'])
  const [token] = await kept(page)
  expect((await (await me(people.baseUrl, token)).json()).name).toBe('ann')
  await follow(page, `invitation=${invitation}`)
  await dialog.getByLabel('New password', { exact: true }).fill(password)
  await dialog.getByLabel('Repeat the new password').fill(password)
  await press(page, 'Enter')
  await dialog.getByRole('alert').getByText('used').waitFor()
})

test('a person signs in with name and password, for the tab or the device (K-3, A-108)', async ({ people }) => {
  await people.add({ name: 'ann', role: 'viewer' })
  const page = await people.open('', { token: null })
  const hoursLeft = async (token: string | null | undefined) =>
    Math.round((Date.parse((await (await me(people.baseUrl, token)).json()).expires) - Date.now()) / 3_600_000)
  await signInAs(page, 'ann', `${password}!`)
  await page.getByRole('alert').getByText('The name or the password is wrong').waitFor()
  expect(await nameField(page).inputValue()).toBe('ann')
  await signInAs(page, 'Ann', password)
  await grid(page).waitFor()
  expect(await hasFocus(page.getByRole('main'))).toBe(true)
  const [short, none] = await kept(page)
  expect([none, await hoursLeft(short)]).toEqual([null, 4])
  const revoked = page.waitForResponse((response) => response.request().method() === 'DELETE')
  await choose(page, 'Settings', 'Sign out')
  await nameField(page).and(page.locator(':focus')).waitFor()
  expect((await revoked).status()).toBe(200)
  await page.getByLabel('Stay signed in').check()
  await signInAs(page, 'ann', password)
  await grid(page).waitFor()
  const [empty, long] = await kept(page)
  expect([empty, await hoursLeft(long)]).toEqual([null, 14 * 24])
  await choose(page, 'Settings', 'Sign out')
  await nameField(page).waitFor()
  expect(await kept(page)).toEqual([null, null])
})

test('after failures, the page shows the time to wait, and accepts a token (K-3)', async ({ people }) => {
  const page = await people.open('', { token: null })
  const wait = page.getByRole('alert').getByText(/Too many attempts. Try again in \d+ sec/)
  await expect
    .poll(async () => {
      await signInAs(page, 'ann', 'a wrong password')
      await page.locator('form[aria-busy=false]').waitFor()
      return wait.count()
    })
    .toBe(1)
  await withToken(page, ` ${people.token}\n`)
  await grid(page).waitFor()
  await choose(page, 'Settings', 'Sign out')
  await nameField(page).waitFor()
  expect((await me(people.baseUrl, people.token)).status).toBe(200)
})

test('my account shows the rights, changes the password, and ends all sessions (K-30)', async ({ people }) => {
  await people.add({ name: 'ann', displayName: 'Ann Lee', role: 'author', folders: ['/news'] })
  const other = await signIn({ url: people.baseUrl, username: 'ann', password })
  const page = await people.open('', { token: null })
  await signInAs(page, 'ann', password)
  await page.getByRole('navigation', { name: 'Views' }).waitFor()
  await choose(page, 'Settings', 'My account')
  const account = page.getByRole('dialog', { name: 'My account' })
  for (const text of ['Ann Lee (ann)', 'Demo site', 'Author, in /news']) await account.getByText(text).waitFor()
  await expectAccessible(page)
  const change = async (old: string) => {
    await account.getByLabel('Old password').fill(old)
    await account.getByLabel('New password', { exact: true }).fill('battery staple correct')
    await account.getByLabel('Repeat the new password').fill('battery staple correct')
    await press(page, 'Enter')
  }
  await change('a wrong password')
  await account.getByRole('alert').getByText('password is wrong').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(1)
  await change(password)
  await notice(page, 'Password changed.').waitFor()
  expect((await me(people.baseUrl, other)).status).toBe(401)
  const third = await signIn({ url: people.baseUrl, username: 'ann', password: 'battery staple correct' })
  await account.getByRole('button', { name: 'Sign out everywhere' }).press('Enter')
  await nameField(page).waitFor()
  expect((await me(people.baseUrl, third)).status).toBe(401)
})

const narrow = { width: 390, height: 800 }

const eve = { sub: 'eve', email: 'eve@example.com', email_verified: true, name: 'Eve' }

/** An issuer called "work", whose rule makes editors of the group "web", with Eve in this group. */
const withIssuer = test.extend('issuer', async ({ people, directory }, { onCleanup }) => {
  const callback = `${people.baseUrl}/api/v2/admin/sign-in/work/callback`
  const provider = await startIdentityProvider('site-admin', callback)
  onCleanup(provider.close)
  const issuer = `issuer add ${provider.url} --id work --audience programs --client-id site-admin`
  await administerJson(directory, issuer.split(' '))
  await administerJson(directory, 'rule add --issuer work --claim groups=web --site 1001 --role editor'.split(' '))
  provider.signInAs({ ...eve, groups: ['web'] })
  return provider
})

withIssuer('a sign-in at an issuer leads back to the same place (K-31, A-96)', async ({ people, issuer }) => {
  const page = await people.open('#/1001/categories', { token: null, other: issuer.url, viewport: narrow })
  const button = page.getByRole('button', { name: 'Sign in with work' })
  await button.waitFor()
  expect(await widthOf(page)).toBeLessThanOrEqual(narrow.width)
  await expectAccessible(page)
  const enter = async (groups: readonly string[]) => {
    issuer.signInAs({ ...eve, groups })
    await page.getByLabel('Stay signed in').check()
    await button.press('Enter')
  }
  await enter(['press'])
  await page.getByRole('alert').getByText('You are not signed in.').waitFor()
  expect(await nameField(page).getAttribute('aria-invalid')).toBe('false')
  await enter(['web'])
  await page.locator('.chooser-item').first().waitFor()
  expect(page.url()).toMatch(/console#\/1001\/categories/)
  const [none, token] = await kept(page)
  expect([none, (await (await me(people.baseUrl, token)).json()).name]).toEqual([null, eve.email])

  // Somebody else has begun this sign-in, so its code changes nothing.
  await page.goto(`${people.baseUrl}/console?other#code=${'f'.repeat(64)}`)
  await grid(page).waitFor()
  expect([page.url().includes('code'), await kept(page)]).toEqual([false, [null, token]])
  await choose(page, 'Settings', 'My account')
  await page.getByRole('button', { name: 'Sign out everywhere' }).waitFor()
  expect(await page.getByLabel('Old password').count()).toBe(0)
  await press(page, 'Escape')
  await choose(page, 'Settings', 'Sign out')
  const answers = ['error=100429&request=abc&wait=7', 'error=100503&request=abc']
  await page.route('**/sign-in/work?*', (route) =>
    route.fulfill({ status: 303, headers: { Location: `${people.baseUrl}/console#${answers.shift()}` } }),
  )
  await enter(['web'])
  await page.getByRole('alert').getByText('Try again in 7 sec').waitFor()
  await enter(['web'])
  await page.getByRole('alert').getByText('error 100503').waitFor()
  await page.getByRole('alert').getByText('request: abc.').waitFor()
})

withIssuer(
  'an expired sign-in continues at an issuer, and an open dialog keeps its text (K-6, K-31)',
  async ({ people, issuer }) => {
    const page = await people.open('#/1001/files', { token: null, other: issuer.url })
    await page.getByRole('button', { name: 'Sign in with work' }).press('Enter')
    await page.getByRole('button', { name: 'New folder' }).press('Enter')
    await page.getByLabel('Folder name').fill('typed before')
    const [token] = await kept(page)
    // WebKit opens a tab only while it handles a click, and computes a digest later.
    await page.evaluate(() => {
      const digest = crypto.subtle.digest.bind(crypto.subtle)
      crypto.subtle.digest = async (...given) => {
        await new Promise((resolve) => setTimeout(resolve))
        return digest(...given)
      }
      const openTab = window.open
      window.open = () => null
      addEventListener('click', () => Object.assign(window, { open: openTab }), true)
      addEventListener('click', () => Object.assign(window, { open: () => null }))
    })
    await fetch(`${people.baseUrl}/api/v2/admin/tokens`, {
      method: 'DELETE',
      headers: { Authorization: String(token) },
    })
    await confirm(page, 'Create')
    const again = page.getByRole('dialog', { name: 'Sign in' })
    const foreign = await page.context().newPage()
    const asked = Promise.withResolvers<Route>()
    await page.context().route('**/sign-in/work?*', asked.resolve)
    const opening = page.context().waitForEvent('page')
    await again.getByRole('button', { name: 'Sign in with work' }).press('Enter')
    const route = await asked.promise
    // Somebody else has begun this sign-in, so its code changes nothing.
    await foreign.goto(`${people.baseUrl}/console#code=${'f'.repeat(64)}`)
    await again.getByRole('alert').getByText('You are not signed in.').waitFor()
    await route.continue()
    const other = await opening
    await other.getByRole('alert').getByText('Close this tab.').waitFor()
    await again.waitFor({ state: 'detached' })
    await confirm(page, 'Create')
    await row(page, 'typed before').waitFor()
  },
)

withIssuer('a page that can store nothing signs in at an issuer in another tab (K-3)', async ({ people, issuer }) => {
  const page = await people.open('#/1001/files', { token: null, other: issuer.url })
  await page.evaluate(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException('The storage is full.', 'QuotaExceededError')
    }
  })
  await page.getByRole('button', { name: 'Sign in with work' }).press('Enter')
  await grid(page).waitFor()
})

test('an owner creates and revokes keys with the keyboard (K-32)', async ({ people }) => {
  const page = await people.openAs({ name: 'olga', role: 'owner' }, '#/1001/forms', { viewport: narrow })
  for (const view of ['History', 'Access']) await page.getByRole('link', { name: view, exact: true }).click()
  const key = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'Deployment' }) })
  const isAllowed = async (secret: string, path: string) => {
    const headers = { Authorization: secret }
    const address = `${people.baseUrl}/api/v2/admin/sites/1001/storage/${path}`
    return (await fetch(address, { method: 'PUT', headers, body: 'text' })).status
  }
  await page.getByRole('button', { name: 'Create a key' }).press('Enter')
  await page.keyboard.type('Deployment')
  await press(page, 'Tab')
  await page.keyboard.press('End')
  await page.getByLabel('History').selectOption('read')
  await page.getByRole('textbox', { name: 'Folders' }).fill('news')
  await page.getByLabel('Works until the end of').fill('2000-01-01')
  await expectAccessible(page)
  await confirm(page, 'Create')
  const form = page.getByRole('dialog', { name: 'Create a key' })
  expect(await form.isVisible()).toBe(true)
  const days = (count: number) => new Date(Date.now() + count * 24 * 3_600_000).toISOString().slice(0, 10)
  await page.getByLabel('Works until the end of').fill(days(30))
  await confirm(page, 'Create')
  const once = page.getByRole('dialog', { name: 'Key Deployment' })
  await once.getByRole('button', { name: 'Copy the key' }).press('Enter')
  await notice(page, 'Key copied.').waitFor()
  const secret = await once.getByLabel('Key', { exact: true }).inputValue()
  // The service never shows the secret again, so Back does not close the dialog.
  for (let times = 0; times < 2; times++) await page.goBack()
  expect(await once.getByLabel('Key', { exact: true }).inputValue()).toBe(secret)
  await confirm(page, 'Done')
  for (const text of ['olga', 'Files: read and change in /news', 'History: read', 'Never used'])
    await key.getByText(text).waitFor()
  expect(await page.locator('html').innerHTML()).not.toContain(secret)
  expect(await widthOf(page)).toBeLessThanOrEqual(narrow.width)
  await expectAccessible(page)
  expect([await isAllowed(secret, 'news/a.txt'), await isAllowed(secret, 'a.txt')]).toEqual([200, 400])
  await page.reload()
  await key.getByText(/^Last used/).waitFor()
  await key.getByRole('button', { name: 'Revoke Deployment' }).press('Enter')
  await confirm(page, 'Revoke')
  await notice(page, 'Key Deployment revoked.').waitFor()
  await key.waitFor({ state: 'detached' })
  await expect.poll(() => isAllowed(secret, 'news/a.txt')).toBe(401)

  // A token of an operator belongs to no person, so it can create no key.
  const operator = await people.open('#/1001/access', { locale: 'de-DE' })
  await operator.getByRole('heading', { name: 'Schlüssel für Programme' }).waitFor()
  expect(await operator.getByRole('button', { name: 'Schlüssel erstellen' }).count()).toBe(0)
})

test('a failing webhook fits on the screen of a phone, in German (K-17, K-52)', async ({ people }) => {
  const options = { viewport: narrow, locale: 'de-DE' }
  const page = await people.openAs({ name: 'olga', role: 'owner' }, '#/1001/files', options)
  const webhook = { id: 'whk_1', siteId: 1001, targetUrl: 'https://hooks.example.com/changes', types: [], subject: '' }
  const state = { enabled: true, description: '', lastSuccess: null, failingSince: '2026-11-29T23:38:57Z' }
  await page.route(/v3\/sites\/1001\/webhooks/, (route) =>
    route.fulfill({ json: { items: [{ ...webhook, ...state }] } }),
  )
  await page.getByRole('link', { name: 'Zugriff' }).click()
  const cell = page.getByRole('cell').filter({ hasText: 'Schlägt fehl seit' })
  const { x = 0, width = 999 } = (await cell.boundingBox()) ?? {}
  expect(x + width).toBeLessThan(narrow.width)
})

test('an owner creates, tests and removes a webhook with the keyboard (K-52)', async ({ people }) => {
  const statuses = [503]
  const received: string[] = []
  const address = await listenInTest(
    createServer(async (request, response) => {
      received.push(JSON.parse((await buffer(request)).toString()).type)
      response.writeHead(statuses.shift() ?? 200).end()
    }),
  )
  const { host } = new URL(address)
  const page = await people.openAs({ name: 'olga', role: 'owner' }, '#/1001/access', { viewport: narrow })
  const webhook = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: host }) })
  const act = async (item: string) => {
    await page.getByRole('button', { name: `Actions for ${host}` }).press('Enter')
    await page.getByRole('menuitem', { name: item }).press('Enter')
  }
  await page.getByRole('button', { name: 'Create a webhook' }).press('Enter')
  await page.keyboard.type('http://example.com/')
  await page.getByLabel('Note').fill('Search index')
  for (const subject of ['Web forms', 'Categories and their objects', 'People, keys and webhooks'])
    await page.getByLabel(subject).press('Space')
  await expectAccessible(page)
  await confirm(page, 'Create')
  const form = page.getByRole('dialog', { name: 'Create a webhook' })
  await form.getByRole('alert').getByText('targetUrl: must be an https address', { exact: true }).waitFor()
  await form.getByLabel('Address of the service').fill(`${address}/hooks`)
  await confirm(page, 'Create')
  const once = page.getByRole('dialog', { name: 'Secret of the webhook' })
  await once.getByRole('button', { name: 'Copy the secret' }).press('Enter')
  // A screen reader reads nothing outside the open dialog.
  await once.getByLabel('Notices').getByText('Secret copied.').waitFor()
  await once.getByLabel('Notices').getByRole('button', { name: 'Close' }).press('Enter')
  expect(await hasFocus(once)).toBe(true)
  const secret = await once.getByLabel('Secret', { exact: true }).inputValue()
  expect(secret).toMatch(/^whsec_/)
  await confirm(page, 'Done')
  for (const text of ['Search index', 'Files and folders']) await webhook.getByText(text).waitFor()
  expect(await page.locator('html').innerHTML()).not.toContain(secret)
  expect(await widthOf(page)).toBeLessThanOrEqual(narrow.width)
  await expectAccessible(page)

  await act('Send a test')
  await notice(page, /Answered 503 in \d+ ms/).waitFor()
  await people.files.put('a.txt', 'a')
  await act('Deliveries')
  const deliveries = page.getByRole('dialog', { name: `Deliveries to ${host}` })
  const repeat = deliveries.getByRole('button', { name: 'Repeat the delivery' })
  await expect
    .poll(async () => {
      if ((await repeat.count()) > 0) return true
      await confirm(page, 'Done')
      await act('Deliveries')
      await deliveries.getByText(/Uploaded|No change has been delivered/).waitFor()
      return false
    })
    .toBe(true)
  expect(await widthOf(page)).toBeLessThanOrEqual(narrow.width)
  await expectAccessible(page)
  await repeat.press('Enter')
  await notice(page, /Delivery repeated\. Answered 200/).waitFor()
  await deliveries.getByText('Attempt 2').waitFor()
  await confirm(page, 'Done')
  const [type, ...stored] = received
  expect([type, new Set(stored)]).toEqual(['site-admin.webhook.test', new Set(['site-admin.file.stored'])])

  await act('New secret')
  expect(await once.getByLabel('Secret', { exact: true }).inputValue()).not.toBe(secret)
  await confirm(page, 'Done')
  await act('Disable')
  await webhook.getByText('Disabled').waitFor()
  await notice(page, `${host} disabled.`).waitFor()
  await act('Enable')
  await notice(page, `${host} enabled.`).waitFor()
  await webhook.getByText('Disabled').waitFor({ state: 'detached' })
  const german = await people.open('#/1001/access', { locale: 'de-DE' })
  await german.getByRole('row').getByText('Dateien und Ordner').waitFor()
  await act('Remove')
  await confirm(page, 'Remove')
  await notice(page, `Webhook to ${host} removed.`).waitFor()
  await webhook.waitFor({ state: 'detached' })
  await german.getByRole('row').getByText('Dateien und Ordner').waitFor({ state: 'detached' })
})

test('an owner invites and manages people with the keyboard (K-29)', async ({ people }) => {
  const page = await people.openAs({ name: 'olga', role: 'owner' }, '#/1001/access')
  const act = (item: string) => choose(page, 'Actions for Bob', item)
  const state = (text: string) => person(page, 'Bob').getByText(text).waitFor()
  await person(page, 'olga').waitFor()
  await page.getByRole('button', { name: 'Invite…' }).press('Enter')
  await page.keyboard.type('bob')
  await press(page, 'Tab')
  await page.keyboard.type('Bob')
  await page.getByLabel('Role', { exact: true }).selectOption('Author')
  await page.getByRole('textbox', { name: 'Folders' }).fill('news\n/press')
  await page.getByLabel('Email address').fill('bob@example.com')
  await confirm(page, 'Invite')
  const link = page.getByRole('dialog', { name: 'Invitation for bob' })
  await expectAccessible(page)
  await link.getByRole('button', { name: 'Copy the link' }).press('Enter')
  await notice(page, 'Link copied.').waitFor()
  const copied = await link.getByLabel('Link').inputValue()
  expect(copied).toMatch(`${people.baseUrl}/console#invitation=bob.`)
  await confirm(page, 'Done')
  await state('Author, in /news, /press')
  await state('Invited')
  expect(await page.locator('html').innerHTML()).not.toContain(copied)
  await page.getByRole('button', { name: 'Invite…' }).press('Enter')
  await page.getByLabel('Full name').press('Control+v')
  expect(await page.getByLabel('Full name').inputValue()).toBe(copied)
  await press(page, 'Escape')

  await act('Change role')
  await page.getByLabel('Role', { exact: true }).selectOption('Editor')
  await confirm(page, 'Save')
  await state('Editor')
  await notice(page, 'Role of Bob saved.').waitFor()
  await act('New invitation')
  await page.getByText('The person can also use an account with the address bob@example.com.').waitFor()
  const sent = page.waitForRequest((request) => request.method() === 'PUT')
  await confirm(page, 'New invitation')
  expect((await sent).postDataJSON()).toEqual({ invite: true, email: 'bob@example.com' })
  await expect.poll(() => link.getByLabel('Link').inputValue()).not.toBe(copied)
  await confirm(page, 'Done')
  await act('Disable')
  await confirm(page, 'Disable')
  await state('Disabled')
  await notice(page, 'Bob disabled.').waitFor()
  await act('Enable')
  await notice(page, 'Bob enabled.').waitFor()
  await person(page, 'Bob').getByText('Disabled').waitFor({ state: 'detached' })
  await act('Remove')
  await confirm(page, 'Remove')
  await person(page, 'Bob').waitFor({ state: 'detached' })
  // The page offers no actions on the only owner, because the service would refuse them.
  expect(await page.getByRole('button', { name: 'Actions for olga' }).count()).toBe(0)
})

test('with access:read, a person sees people but no buttons, in German (K-27, K-29)', async ({ people }) => {
  await people.add({ name: 'olga', role: 'owner' })
  const token = await people.add({ name: 'rita', rights: ['access:read', 'files:read:/news'] })
  const options = { viewport: { width: 360, height: 740 }, locale: 'de-DE' }
  const page = await people.open('#/1001/access', { token, ...options })
  await person(page, 'olga').getByText('Inhaber').waitFor()
  await person(page, 'rita').getByText('Dateien: lesen in /news').waitFor()
  const you = await person(page, 'rita').getByText('Sie', { exact: true }).boundingBox()
  expect(you?.height).toBeLessThan(24)
  expect(await page.locator('main').getByRole('button').count()).toBe(0)
  expect(await page.getByRole('heading', { name: 'Schlüssel' }).count()).toBe(0)
  await expectAccessible(page)
})

test('an author sees only the folders of the role, and can change them (A-43, K-27)', async ({ people }) => {
  for (const path of ['press/news/a.txt', 'press/secret.txt', 'secret.txt']) await people.files.put(path, path)
  const page = await people.openAs({ name: 'ann', role: 'author', folders: ['/press/news'] }, '#/1001/files')
  await row(page, 'press').click()
  expect(await views(page)).toEqual(['Files', 'Deleted files', 'History'])
  for (const name of ['Upload', 'New folder', 'Rename', 'Delete', 'Move to', 'Copy to']) {
    expect(await page.getByRole('button', { name }).count()).toBe(0)
  }
  await row(page, 'press').getByRole('link').click()
  await row(page, 'news').click()
  await page.getByRole('button', { name: 'Copy to' }).waitFor()
  expect(await page.getByRole('button', { name: 'Rename' }).count()).toBe(0)
  await press(page, 'Delete', 'F2')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await row(page, 'news').getByRole('link').click()
  await row(page, 'a.txt').click()
  expect(await page.getByText('secret.txt').count()).toBe(0)
  await page.getByRole('button', { name: 'New folder' }).waitFor()
  await press(page, 'F2')
  await page.getByLabel('New name').fill('b.txt')
  await press(page, 'Enter')
  await row(page, 'b.txt').waitFor()
})

test('buttons of a right disappear when the service has refused their action (K-27)', async ({ people }) => {
  const page = await people.openAs({ name: 'ann', role: 'editor' }, '#/1001/files')
  const create = page.getByRole('button', { name: 'New folder' })
  await create.waitFor()
  await people.access.people.change('ann', { role: 'viewer' })
  await create.press('Enter')
  await page.getByRole('textbox', { name: 'Name' }).fill('news')
  await press(page, 'Enter')
  await page.getByRole('dialog').getByRole('alert').getByText('files:write').waitFor()
  await press(page, 'Escape')
  await create.waitFor({ state: 'detached' })
})

test('unsaved text outlives a removed right, and is saved when it is back (K-27, K-44)', async ({ people }) => {
  await people.files.put('a.txt', 'a')
  const page = await people.openAs({ name: 'ann', role: 'editor' }, '#/1001/files?file=a.txt')
  await details(page).getByRole('button', { name: 'Edit' }).press('Enter')
  const source = page.getByRole('dialog').getByLabel('Source')
  await source.fill('mine')
  const returnToPage = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await people.access.people.change('ann', { rights: ['forms:read'] })
  await returnToPage()
  await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' })
  expect(await source.inputValue()).toBe('mine')
  await people.access.people.change('ann', { role: 'editor' })
  await returnToPage()
  await confirm(page, 'Save')
  await notice(page, 'a.txt saved.').waitFor()
})

test('a sign-in for other sites keeps unsaved text (K-6, K-44)', async ({ people, directory }) => {
  await people.files.put('a.txt', 'a')
  await administerJson(directory, ['site', 'create', '--id', '2002', '--name', 'Second site'])
  const issuing = ['token', 'issue', '--user', 'other', '--site', '2002', ...everything]
  const other = await administerJson(directory, issuing)
  const page = await people.open('#/1001/files?file=a.txt')
  await details(page).getByRole('button', { name: 'Edit' }).press('Enter')
  const source = page.getByLabel('Source')
  await source.fill('mine')
  const expired = refusal(401, 101000, 'Expired.')
  await page.route('**/api/**', (route) => (route.request().method() === 'PUT' ? expired(route) : route.fallback()))
  await confirm(page, 'Save')
  const again = page.getByRole('dialog', { name: 'Sign in' })
  await again.waitFor()
  // The user may close the dialog, for example to copy a text. The next call opens it again.
  await press(page, 'Escape')
  await again.waitFor({ state: 'detached' })
  await confirm(page, 'Save')
  await again.waitFor()
  await page.unrouteAll({ behavior: 'wait' })
  await withToken(again, other.token)
  await again.getByRole('alert').getByText('does not cover this site').waitFor()
  expect(await source.inputValue()).toBe('mine')
  expect(await again.getByRole('button', { name: 'Sign out' }).count()).toBe(0)
  await withToken(again, people.token)
  await again.waitFor({ state: 'detached' })
  await page.getByText('Your sign-in has expired, or the token is wrong.').waitFor()
  await confirm(page, 'Save')
  await notice(page, 'a.txt saved.').waitFor()
})

test('each new key is shown even if its dialog was closed before the answer (K-32)', async ({ people }) => {
  const page = await people.openAs({ name: 'ann', role: 'owner' }, '#/1001/access')
  const held: Route[] = []
  await page.route('**/keys', (route) =>
    route.request().method() === 'POST' ? void held.push(route) : route.continue(),
  )
  const create = async (name: string) => {
    const asked = page.waitForRequest((request) => request.method() === 'POST')
    await page.getByRole('button', { name: 'Create a key' }).press('Enter')
    await page.getByRole('dialog').getByLabel('Name').fill(name)
    await press(page, 'Enter')
    await asked
  }
  await create('deploy')
  await press(page, 'Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await create('report')
  for (const route of held) {
    const answered = page.waitForResponse((response) => response.request() === route.request())
    await route.continue()
    await answered
  }
  await page.getByRole('dialog', { name: 'Key deploy' }).waitFor()
  await confirm(page, 'Done')
  await page.getByRole('dialog', { name: 'Key report' }).waitFor()
})

/** The open dialog with the role of an author. The user gives this author one more folder. */
const withRole = test.extend('role', async ({ people }) => {
  await people.invite({ name: 'zoe', role: 'author', folders: ['/news'] })
  const page = await people.open('#/1001/access')
  await choose(page, 'Actions for zoe', 'Change role')
  const dialog = page.getByRole('dialog', { name: 'Role of zoe' })
  await dialog.getByLabel('Folders').fill('/news\n/shop')
  return { page, dialog }
})

withRole('a role that someone else has changed meanwhile is not overwritten (K-29)', async ({ people, role }) => {
  const { page, dialog } = role
  const changeFirst = async (route: Route) => {
    if (route.request().method() === 'PUT') await people.access.people.change('zoe', { role: 'viewer' })
    await route.fallback()
  }
  await page.route('**/users/zoe', changeFirst)
  await confirm(page, 'Save')
  await dialog.getByRole('alert').getByText('Someone else has changed this role.').waitFor()
  expect((await people.access.people.get('zoe')).role).toBe('viewer')
})

withRole('a role whose answer was lost can be saved again (K-29)', async ({ people, role }) => {
  const { page, dialog } = role
  const loseAnswer = async (route: Route) => {
    if (route.request().method() !== 'PUT') return route.fallback()
    await route.fetch()
    await route.abort()
  }
  await page.route('**/users/zoe', loseAnswer)
  await confirm(page, 'Save')
  await dialog.getByRole('alert').waitFor()
  await page.unroute('**/users/zoe', loseAnswer)
  await confirm(page, 'Save')
  await dialog.waitFor({ state: 'detached' })
  expect((await people.access.people.get('zoe')).folders).toEqual(['/news', '/shop'])
})

test('an older answer does not replace a newer list of people (K-29)', async ({ people }) => {
  const page = await people.open('#/1001/forms')
  await page.getByRole('heading', { name: 'Contact us' }).waitFor()
  const first = Promise.withResolvers<Route>()
  await page.route('**/users', (route) => first.resolve(route), { times: 1 })
  await follow(page, '#/1001/access')
  const older = await first.promise
  await people.invite({ name: 'bob', role: 'viewer' })
  await person(page, 'bob').waitFor()
  const answered = page.waitForEvent('requestfinished', (request) => request === older.request())
  await older.fulfill({ json: { users: [] } })
  await answered
  await page.evaluate(() => new Promise(requestAnimationFrame))
  expect(await person(page, 'bob').count()).toBe(1)
})

test('the trash shows and restores only what the rights allow (K-27, A-45)', async ({ people }) => {
  for (const path of ['press/a.txt', 'news/b.txt', 'secret.txt']) {
    await people.files.put(path, path)
    await people.files.remove(path)
  }
  const rights = ['files:write:/press', 'files:read:/news']
  const page = await people.openAs({ name: 'ann', rights }, '#/1001/trash')
  await page.getByText('b.txt').waitFor()
  expect(await page.getByText('secret.txt').count()).toBe(0)
  expect(await page.getByRole('checkbox', { name: 'Select news/b.txt' }).count()).toBe(0)
  await page.getByRole('checkbox', { name: 'Select press/a.txt' }).check()
  await page.getByRole('button', { name: 'Restore 1 item' }).press('Enter')
  await notice(page, 'a.txt restored.').waitFor()
  const reader = await people.add({ name: 'rita', rights: ['files:read'] })
  const other = await people.open('#/1001/trash', { token: reader })
  await other.getByText('secret.txt').waitFor()
  expect(await other.locator('main').getByRole('button').count()).toBe(0)
  expect(await other.locator('main').getByRole('checkbox').count()).toBe(0)
  await expectAccessible(other)
})
