import { createHash } from 'node:crypto'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeBackup } from '../../lib/machine/backup/make-backup.ts'
import { restoreBackup } from '../../lib/machine/backup/restore-backup.ts'
import { checkDataDirectory } from '../../lib/machine/check/check-directory.ts'
import { scratchDirectory } from './directory.ts'
import { storage } from './paths.ts'
import { hostHere } from './serve-here.ts'
import type { SpawnedService } from './spawned-service.ts'
import { test as base } from './test.ts'

/** In bytes: too large for the database. */
export const large = 40_000

/** Content that starts with the hash of the rest. The hash is wrong for a mixture of two contents. */
export const contentOf = (mark: string): Buffer => {
  const body = Buffer.alloc(large, mark)
  return Buffer.concat([Buffer.from(createHash('sha256').update(body).digest('hex')), body])
}

export const isWhole = (content: Buffer): boolean =>
  createHash('sha256').update(content.subarray(64)).digest('hex') === content.subarray(0, 64).toString()

export const put = async (service: Pick<SpawnedService, 'request'>, path: string, body: Buffer | string) => {
  const { status } = await service.request(`${storage}/${path}`, { method: 'PUT', body: Buffer.from(body) })
  if (status !== 200) throw new Error(`${path} was answered with ${status}`)
}

export const read = async (service: SpawnedService, path: string): Promise<Buffer> =>
  Buffer.from(await (await service.request(`${storage}/${path}`)).arrayBuffer())

/** Begins a resumable upload of 60,000 bytes. Returns a function that appends 30,000 bytes. */
export const beginUpload = async (service: Pick<SpawnedService, 'request'>) => {
  const tus = { 'Tus-Resumable': '1.0.0' }
  const created = await service.request(`${storage}/uploads`, {
    method: 'POST',
    headers: { ...tus, 'Upload-Length': '60000', 'Upload-Metadata': `filename ${btoa('half.bin')}` },
  })
  return async (to: Pick<SpawnedService, 'request'>, offset: number, mark: string) => {
    const { status } = await to.request(new URL(created.headers.get('location') ?? '').pathname, {
      method: 'PATCH',
      headers: { ...tus, 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' },
      body: mark.repeat(30_000),
    })
    if (status !== 204) throw new Error(`The bytes were answered with ${status}`)
  }
}

const plainly = { evenIfDamaged: false, withBytes: false, signal: new AbortController().signal }

type Options = Partial<typeof plainly>
export const backUp = (data: string, target: string, options: Options = {}) =>
  makeBackup(data, target, { ...plainly, ...options })
export const restore = (backup: string, data: string, options: Options = {}) =>
  restoreBackup(backup, data, { ...plainly, ...options })
export const faultsOf = (path: string) => checkDataDirectory(path, { withBytes: true })

export const unfinishedIn = (folder: string) => readdirSync(folder).filter((name) => name.includes('unfinished'))

export const modesIn = (folder: string): ReadonlySet<string> => {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  return new Set(
    [folder, ...all].map((path) => {
      const found = statSync(path)
      return `${found.isDirectory() ? 'folder' : 'file'} ${(found.mode & 0o777).toString(8)}`
    }),
  )
}

export const blobOf = (folder: string): string => {
  const [name] = readdirSync(join(folder, 'blobs'))
  if (name === undefined || !existsSync(join(folder, 'blobs', name))) throw new Error('The directory has no blob')
  return join(folder, 'blobs', name)
}

/** Changes the database of a backup, or of an unused directory, without the constraints of the tables. */
export const tamper = (backup: string, sql: string) => {
  const database = new DatabaseSync(join(backup, 'site-admin.db'), { enableForeignKeyConstraints: false })
  database.exec(sql)
  database.close()
}

export const replaceBlob = async (folder: string) => {
  const blob = blobOf(folder)
  await rm(blob)
  writeFileSync(blob, Buffer.alloc(large + 64, 'z'), { mode: 0o600 })
}

/**
 * The folders of a test: the data directory of its service, and the folder for backups. `backedUp` has a backup of a
 * small and a large file, without a running service.
 */
export const test = base
  .extend('place', async ({ directory }) => ({
    folder: directory,
    data: join(directory, 'data'),
    backup: join(directory, 'backup'),
    restored: join(directory, 'restored'),
  }))
  .extend('template', { scope: 'file' }, async ({}, { onCleanup }) => {
    const template = scratchDirectory(onCleanup)
    const service = await hostHere(template)
    await put(service, 'small.txt', 'small')
    await put(service, 'large.bin', contentOf('a'))
    await service.stop()
    return { template, token: service.token }
  })
  .extend('backedUp', async ({ place, template: { template, token } }) => {
    await cp(template, place.data, { recursive: true })
    await backUp(place.data, place.backup)
    return { ...place, token }
  })
