import { constants } from 'node:fs'
import { access, chmod, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { readBytes } from '../file-bytes.ts'
import { placeNew, writeTo } from '../sync/fetch-file.ts'
import { LocalRefusal } from '../sync/local-refusal.ts'
import { removeLeftovers, temporaryName } from '../sync/temporary.ts'
import { UsageError } from './failure.ts'
import { shellWord, sizeOf } from './format-text.ts'
import { type Context, liveLine, print } from './single.ts'
import { nameOf, sitePath } from './site-path.ts'

// The file for a download on this machine. `mode` is the mode of the file that the download replaces.
const localPlace = async (to: string | undefined, name: string, force: true | undefined) => {
  if (to === '' || to === '-')
    throw new UsageError('Name a target file or folder, or leave it out. "cat" prints a file.')
  const isDirectory = to !== undefined && (await stat(to).catch(() => undefined))?.isDirectory() === true
  if (to?.endsWith('/') && !isDirectory)
    throw new LocalRefusal(`The folder ${to} does not exist. Create it first, or name a file.`)
  const wanted = to === undefined || isDirectory ? join(to ?? '.', name) : to
  const there = await stat(wanted).catch(() => undefined)
  if (!there) return { wanted, location: wanted, mode: undefined }
  if (!force) throw new LocalRefusal(`${wanted} already exists. Add --force to replace it, or name another file.`)
  if (!there.isFile()) throw new LocalRefusal(`${wanted} is not a regular file. Name another file, or use "cat".`)
  return { wanted, location: await realpath(wanted), mode: there.mode & 0o777 }
}

interface Download {
  readonly files: number
  readonly bytes: number
  readonly content: AsyncIterable<Uint8Array>
}

const fileDownload = async ({ client, signal }: Context, path: string): Promise<Download | undefined> => {
  const { type, etag = '*', size } = await client.files.stat(path)
  if (type === 'folder') return undefined
  return { files: 1, bytes: size, content: readBytes(client.files, { path, etag, size }, signal) }
}

const zipDownload = async ({ client, signal }: Context, path: string): Promise<Download> => {
  const { openZip } = await import('../zip.ts')
  const { files, bytes, stream } = await openZip(client.files, [path], signal)
  return { files, bytes, content: stream({ signal }) }
}

const isZip = (to = ''): boolean => /\.zip$/i.test(to)

const openDownload = async (context: Context, path: string, to: string | undefined): Promise<Download> => {
  const file = path === '' ? undefined : await fileDownload(context, path)
  if (file) return file
  if (isZip(to)) return zipDownload(context, path)
  throw new UsageError(
    `"${path || '/'}" is a folder. Download it as one file with "site-files get ${shellWord(path || '/')} FILE.zip", or ` +
      `file by file with "site-files pull${path && ` ${shellWord(path)}`} DIR".`,
  )
}

/** Downloads a file, or a folder as one zip. The local file appears only when it is complete. */
export const get = async (context: Context, from: string, to: string | undefined, { force }: { force?: true }) => {
  if (from === '') throw new UsageError('Name a file or a folder. "/" is the whole site.')
  const path = sitePath(from)
  const { files, bytes, content } = await openDownload(context, path, to)
  const { wanted, location, mode } = await localPlace(
    to,
    to !== undefined && isZip(to) ? basename(to) : nameOf(path),
    force,
  )
  await access(dirname(location), constants.W_OK)
  await removeLeftovers(dirname(location))
  const temporary = join(dirname(location), temporaryName())
  const live = liveLine(context, files, bytes)
  let size = 0
  try {
    await writeTo(temporary, async (file) => {
      for await (const chunk of content) {
        await file.writeFile(chunk)
        size += chunk.length
        live.tell(0, size)
      }
    })
    if (mode !== undefined) await chmod(temporary, mode)
    if (force) await rename(temporary, location)
    else await placeNew(temporary, location, location)
  } finally {
    live.clear()
    await rm(temporary, { force: true })
  }
  print(context, { path, file: wanted, size }, `${wanted}  ${sizeOf(size)}`)
}
