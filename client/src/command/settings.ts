import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { readUrl } from '../connect.ts'
import { type ConnectOptions, connect, type SiteClient } from '../index.ts'
import { makeFolder } from '../sync/make-folder.ts'
import { UsageError } from './failure.ts'
import { exchangeIdentity, type Identity } from './identity.ts'

export interface Where {
  readonly url?: string
  readonly tokenFile?: string
  readonly identity?: Identity
  readonly site?: number
}

export interface Login {
  readonly url: string
  readonly token: string
  readonly site?: number
}

const largestTokenFile = 4096

export const loginFile = (): string => {
  const { XDG_CONFIG_HOME, APPDATA } = process.env
  const folder = XDG_CONFIG_HOME || (process.platform === 'win32' && APPDATA) || join(homedir(), '.config')
  return join(folder, 'site-files', 'login.json')
}

const readLogin = async (): Promise<Login | undefined> => {
  const text = await readFile(loginFile(), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('url' in value) || !('token' in value)) return undefined
    const { url, token } = value
    if (typeof url !== 'string' || typeof token !== 'string') return undefined
    return { url, token, ...('site' in value && typeof value.site === 'number' && { site: value.site }) }
  } catch {
    return undefined
  }
}

export const writeLogin = async (login: Login): Promise<void> => {
  const file = loginFile()
  await makeFolder(dirname(file), 0o700)
  // Always makes a new file, because an old file may be readable for other users.
  const temporary = `${file}.${randomUUID()}`
  try {
    await writeFile(temporary, `${JSON.stringify(login)}\n`, { mode: 0o600, flag: 'wx' })
    await rename(temporary, file)
  } finally {
    await rm(temporary, { force: true })
  }
}

/** The file may be a pipe, so its size is unknown in advance. */
const readTokenFile = async (file: string): Promise<string> => {
  if (file === '') throw new UsageError('Name the file with the token after --token-file.')
  const chunks: Buffer[] = []
  try {
    for await (const chunk of createReadStream(file, { end: largestTokenFile })) chunks.push(chunk)
  } catch (error) {
    throw Object.assign(Object(error), { path: file })
  }
  const bytes = Buffer.concat(chunks)
  if (bytes.length > largestTokenFile)
    throw new UsageError(`${file} is too large for a token. Name a file that contains only the token.`)
  const token = bytes.toString().trim()
  if (token === '') throw new UsageError(`${file} contains no token. Write the token into this file.`)
  return token
}

export const checkedUrl = (text: string): string => {
  try {
    readUrl(text)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
  return text
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

/** The command line has priority over the environment, and the environment over the saved login. */
export const connectAs = async (
  { url, tokenFile, identity, site }: Where,
  options: Pick<ConnectOptions, 'fetch' | 'patience'> & { readonly signal: AbortSignal },
): Promise<SiteClient> => {
  const login = await readLogin()
  const given = url ?? (process.env['SITE_ADMIN_URL'] || login?.url)
  if (!given)
    throw new UsageError('Name the service with --url, the environment variable SITE_ADMIN_URL, or "site-files login".')
  const address = checkedUrl(given)
  if (identity) {
    const token = await exchangeIdentity({ url: address, site }, options.signal)
    return connect({ ...options, url: address, token, ...(site !== undefined && { site }) })
  }
  // The saved token belongs to the saved address, and is never sent to another address.
  const isKept = login !== undefined && withoutSlash(login.url) === withoutSlash(address)
  const token =
    tokenFile === undefined
      ? process.env['SITE_ADMIN_TOKEN'] || (isKept && login.token)
      : await readTokenFile(tokenFile)
  if (!token)
    throw new UsageError(
      `No token for ${address}. Pass one with --token-file, the environment variable SITE_ADMIN_TOKEN, or "site-files ` +
        'login".',
    )
  const chosen = site ?? (isKept && token === login.token ? login.site : undefined)
  return connect({ ...options, url: address, token, ...(chosen !== undefined && { site: chosen }) })
}
