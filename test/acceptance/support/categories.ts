import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll } from 'vitest'
import type { Answer } from '../../support/answer.ts'
import { makeDirectory, removeDirectory } from '../../support/directory.ts'
import { target } from '../setup/target.ts'
import { createSite, issueToken, outcomeOf } from './admin.ts'
import { type Call, call } from './http.ts'

/** Imports records into a site. Returns the output of the tool, even if it has refused records. */
export const importRecords = async (siteId: number, records: readonly object[], ...options: readonly string[]) => {
  const directory = makeDirectory()
  const file = join(directory, 'records.jsonl')
  try {
    writeFileSync(file, records.map((record) => JSON.stringify(record)).join('\n'))
    return await outcomeOf('import', file, '--site', String(siteId), ...options)
  } finally {
    removeDirectory(directory)
  }
}

/** A site for the cases of one file, with these records. */
export interface Library {
  readonly siteId: number
  readonly token: string
  /** Calls a path below the site's v3 address. */
  readonly call: (path: string, options?: Call) => Promise<Answer>
}

export const at = (site: number | string, path: string): string => `/webresources/api/v3/sites/${site}${path}`

export const createLibrary = async (records: readonly object[]): Promise<Library> => {
  const siteId = await createSite('Library')
  const { skipped, errors } = await importRecords(siteId, records)
  if (skipped > 0) throw new Error(JSON.stringify(errors))
  const token = await issueToken([siteId])
  return { siteId, token, call: (path, options) => call(at('current', path), { token, ...options }) }
}

/** The site of one file of cases. Undefined without the administration tool. */
export const useLibrary = (records: readonly object[]): Library => {
  let library: Library
  beforeAll(async () => {
    if (target.admin) library = await createLibrary(records)
  })
  return {
    get siteId() {
      return library.siteId
    },
    get token() {
      return library.token
    },
    call: (path, options) => library.call(path, options),
  }
}

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

const day = (id: number) => `2026-01-${String(id).padStart(2, '0')}`

/** News items 1 to 30, blogs 1 to 4, categories 5 and 6. Category 5 is linked with news 1 to 25 and blogs 1 to 3. */
export const records: readonly object[] = [
  { kind: 'category', id: 5, name: 'Five' },
  { kind: 'category', id: 6, name: 'Six' },
  ...range(1, 30).map((id) => ({
    kind: 'news',
    id,
    subject: id % 2 === 0 ? `even ${id}` : `Odd ${id}`,
    body: `<p>Text ${id}</p>`,
    weight: id % 5 === 0 ? id - 10 : null,
    releaseDate: `${day(id)}T12:00:00`,
    createDate: '2025-12-24',
    deleted: id === 4,
    enabled: id !== 6,
    roleId: id % 3,
  })),
  ...range(1, 4).map((id) => ({ kind: 'blog', id, blogName: `Blog ${id}`, postCount: id * 10 })),
  ...range(1, 25).map((objectId) => ({
    kind: 'link',
    type: 'news',
    categoryId: 5,
    objectId,
    ...(objectId === 3 && { displayable: 0 }),
  })),
  ...range(1, 3).map((objectId) => ({ kind: 'link', type: 'blog', categoryId: 5, objectId })),
]

/** The path with a query made of these switches. */
export const withQuery = (path: string, switches: Readonly<Record<string, string>>): string =>
  `${path}?${new URLSearchParams(switches)}`

export const objectIds = ({ json }: Answer): number[] =>
  json.items.map(({ objectId }: { objectId: number }) => objectId)
