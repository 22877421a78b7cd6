import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const folder = join(import.meta.dirname, '..', '..', '.cache', 'chromium')

/** Unpacks the browser from its npm package, with the libraries that a bare machine does not have. */
const unpack = async (): Promise<string> => {
  await mkdir(folder, { recursive: true })
  const { TMPDIR, AWS_LAMBDA_JS_RUNTIME } = process.env
  Object.assign(process.env, { TMPDIR: folder, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' })
  try {
    const { default: packed } = await import('@sparticuz/chromium')
    return await packed.executablePath()
  } finally {
    for (const [name, value] of Object.entries({ TMPDIR, AWS_LAMBDA_JS_RUNTIME })) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

/** Lists the unpacked fonts. Without a font the browser ends, and the list in the package names another folder. */
const listFonts = async (): Promise<string> => {
  const file = join(folder, 'fonts.conf')
  const elements = [
    `<dir>${join(folder, 'fonts', 'fonts')}</dir>`,
    `<cachedir>${join(folder, 'fonts-cache')}</cachedir>`,
  ]
  const list = `<?xml version="1.0"?><fontconfig>${elements.join('')}</fontconfig>`
  if ((await readFile(file, 'utf8').catch(() => '')) !== list) await writeFile(file, list)
  return file
}

/** Runs before the tests that use the browser: two tests that unpack it at once could start a partial file. */
export const setup = async (): Promise<void> => {
  await unpack()
  await listFonts()
}

/** A headless Chromium that sends only the requests of its pages. */
export const launchBrowser = async (): Promise<Browser> =>
  chromium.launch({
    executablePath: await unpack(),
    headless: true,
    env: { ...process.env, FONTCONFIG_FILE: await listFonts() },
    args: [
      ...['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync'],
    ],
  })
