import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

/** Where the browser is unpacked, once. */
const folder = join(import.meta.dirname, '..', '..', '.local', 'chromium')

/** The browser comes out of its npm package, with the libraries that it needs, as it would on a bare machine. */
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

/**
 * Names the fonts of the package where they were unpacked: without any font the browser ends, and its own list looks
 * elsewhere.
 */
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

/** Before the tests that use the browser: two of them that unpacked it at once would start it half written. */
export const setup = async (): Promise<void> => {
  await unpack()
  await listFonts()
}

/** A headless Chromium that asks nobody anything but what its pages ask. */
export const launchBrowser = async (): Promise<Browser> =>
  chromium.launch({
    executablePath: await unpack(),
    headless: true,
    env: { ...process.env, FONTCONFIG_FILE: await listFonts() },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
