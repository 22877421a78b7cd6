import { randomBytes } from 'node:crypto'
import { afterAll } from 'vitest'
import type { Answer } from '../../support/answer.ts'
import { type FilePart, formHeaders, multipart } from '../../support/multipart.ts'
import { storage } from '../../support/paths.ts'
import { target } from '../setup/target.ts'
import { admin } from './admin.ts'
import { ownSiteId } from './forms.ts'
import { type Call, call } from './http.ts'

const encode = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** The URL path of a file or folder. `path` is decoded. */
export const at = (path: string, query = ''): string => `${storage}/${encode(path)}${query}`

/** A folder for the cases of one test file. It is deleted with its contents after the cases. */
export const ownFolder = (): string => {
  const folder = `acceptance-${randomBytes(6).toString('hex')}`
  afterAll(async () => {
    await call(at(folder), { method: 'DELETE' })
  })
  return folder
}

export const upload = (folder: string, files: readonly FilePart[], options: Call = {}): Promise<Answer> =>
  call(folder === '' ? storage : at(folder), {
    method: 'POST',
    body: multipart(files),
    ...options,
    headers: { ...formHeaders, ...options.headers },
  })

export const put = (path: string, body: string | Buffer, query = '', options: Call = {}): Promise<Answer> =>
  call(at(path, query), { method: 'PUT', body, headers: { 'Content-Type': 'application/octet-stream' }, ...options })

/** Stores a file or folder that a case needs. */
export const store = async (...given: Parameters<typeof put>): Promise<Answer> => {
  const answer = await put(...given)
  if (answer.status !== 200) throw new Error(`${given[0]} was not stored: ${answer.status} ${answer.text}`)
  return answer
}

export const read = (path: string, query = ''): Promise<Answer> => call(at(path, query))

/** All pages of a list. `ask` requests a page. It gets the part of the query that names the page. */
export const allPages = async (ask: (page: string) => Promise<Answer>): Promise<readonly Answer['json'][]> => {
  const pages: Answer['json'][] = []
  for (let page: string | undefined = ''; page !== undefined; ) {
    const { status, json } = await ask(page)
    if (status !== 200 || pages.length === 20) throw new Error(`The list has no last page: ${status}`)
    pages.push(json)
    const next = json.cursor ?? json.nextCursor
    page = next && `&cursor=${encodeURIComponent(next)}`
  }
  return pages
}

export const remove = (path: string, query = ''): Promise<Answer> => call(at(path, query), { method: 'DELETE' })

/** A PUT with `?meta`. */
export const relocate = (path: string, body: unknown): Promise<Answer> =>
  call(at(path, '?meta'), { method: 'PUT', body })

export const rename = (path: string, name: string): Promise<Answer> => relocate(path, { name })

export const move = (from: string, path: string): Promise<Answer> => relocate(from, { path })

export const copy = (from: string, copyTo: string): Promise<Answer> => relocate(from, { copyTo })

export const restore = (path: string, body: unknown = {}, headers: Call['headers'] = {}): Promise<Answer> =>
  call(at(path, '?restore'), { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } })

/** Deletes old versions for good. Repeats the request when the newest version can be purged. */
export const purge = async (path: string, query = '?versions', headers: Call['headers'] = {}): Promise<Answer> => {
  const sendAfter = (seconds: number) =>
    target.later(seconds, () => call(at(path, query), { method: 'DELETE', headers }))
  const answer = await sendAfter(0)
  return answer.status === 503 ? sendAfter(Number(answer.headers['retry-after'])) : answer
}

interface Version {
  readonly version: string
  readonly at: string
  readonly size: number
  readonly removed: boolean
  readonly current: boolean
}

/** The newest version comes first. */
export const versionsOf = async (path: string): Promise<readonly Version[]> =>
  (await read(path, '?versions')).json.versions

/** The names in a folder. Names of folders end with a slash. */
export const namesIn = async (folder: string): Promise<string[]> => {
  const { json } = await read(folder, '?meta')
  return (json.contents ?? []).map(({ name, type }: { name: string; type: string }) =>
    type === 'folder' ? `${name}/` : name,
  )
}

/** Calls `run` while a workflow of the page is running. */
export const duringWorkflow = async (page: string, run: () => Promise<void>): Promise<void> => {
  const site = String(await ownSiteId())
  await admin('workflow', 'start', page, '--site', site)
  try {
    await run()
  } finally {
    await admin('workflow', 'end', page, '--site', site)
  }
}
