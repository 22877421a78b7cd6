import type { Locator, Page, Route } from 'playwright-core'

export const grid = (page: Page): Locator => page.getByRole('grid')

export const row = (page: Page, name: string): Locator =>
  grid(page)
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name, exact: true }) })

export const notice = (page: Page, text: string | RegExp): Locator =>
  page.getByLabel('Notices').getByText(text).filter({ visible: true })

export const details = (page: Page): Locator => page.getByRole('complementary', { name: 'Details' })

export const press = async (page: Page, ...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key)
}

export const choose = async (page: Page, menu: string | RegExp, item: string): Promise<void> => {
  await page.getByRole('button', { name: menu, exact: true }).first().click()
  await page.getByRole('menuitem', { name: item }).click()
}

/** Presses a button of the open dialog with the Enter key. While a button is disabled, the key presses another one. */
export const confirm = (page: Page, name: string): Promise<void> =>
  page.getByRole('dialog').getByRole('button', { name, exact: true, disabled: false }).press('Enter')

export const follow = (page: Page, fragment: string): Promise<void> =>
  page.evaluate((hash) => {
    location.hash = hash
  }, fragment)

/** The field for a name shows that nobody is signed in. */
export const nameField = (scope: Page | Locator): Locator => scope.getByLabel('Name', { exact: true })

const submit = (scope: Page | Locator) => scope.getByRole('button', { name: 'Sign in', exact: true }).press('Enter')

export const signIn = async (scope: Page | Locator, token: string): Promise<void> => {
  const field = scope.getByLabel('Access token')
  const instead = scope.getByRole('button', { name: 'Use a token instead' })
  await field.or(instead).waitFor()
  if (await instead.isVisible()) await instead.press('Enter')
  await field.fill(token)
  await submit(scope)
}

export const signInAs = async (scope: Page | Locator, name: string, password: string): Promise<void> => {
  await nameField(scope).fill(name)
  await scope.getByLabel('Password', { exact: true }).fill(password)
  await submit(scope)
}

export const focusedLabel = (page: Page): Promise<string | null | undefined> =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label'))

/** True if the element, or something in it, has the focus. */
export const hasFocus = (place: Locator): Promise<boolean> =>
  place.evaluate((element) => element.matches(':focus-within'))

export const widthOf = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth)

/** Answers a request as if the service had refused it. */
export const refusal =
  (status: number, code: number, message: string) =>
  (route: Route): Promise<void> =>
    route.fulfill({ status, json: { code, message, requestId: 'r' } })

/** Hides the page and shows it again, so that it opens its stream of changes again. */
export const reopenStream = (page: Page): Promise<void> =>
  page.evaluate(() => {
    for (const value of ['hidden', 'visible']) {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }
  })
