import { once } from 'node:events'
import { realpath, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { readBytes } from '../file-bytes.ts'
import type { FileCondition, SiteClient } from '../index.ts'
import { openFile } from '../node.ts'
import { joinPath } from '../paths.ts'
import { hasStatus, ServiceError } from '../service-error.ts'
import { LocalRefusal } from '../sync/local-refusal.ts'
import { isUnmodified, stateOf } from '../sync/local-tree.ts'
import { askYesNo } from './ask.ts'
import { UsageError } from './failure.ts'
import { escapeControls, jsonOf, shellWord, sizeOf } from './format-text.ts'
import { writeOut } from './output.ts'
import { createTextPrinter } from './printers.ts'
import {
  caseRenameTarget,
  destination,
  find,
  findExactly,
  nameOf,
  newPath,
  pathBelowRoot,
  sitePath,
} from './site-path.ts'

export interface Context {
  readonly client: SiteClient
  readonly json: boolean
  readonly signal: AbortSignal
  /** Returns true for the id of a request that this process has sent. */
  readonly isOwn: (requestId: string | null) => boolean
}

export const print = ({ json }: Context, value: object, text: string): void =>
  void writeOut(`${json ? jsonOf(value) : escapeControls(text)}\n`)

export const liveLine = ({ json }: Context, totalFiles: number, totalBytes: number) => {
  const printer = json ? undefined : createTextPrinter()
  return {
    tell: (files: number, bytes: number) =>
      printer?.print({ event: 'progress', files, totalFiles, bytes: Math.min(bytes, totalBytes), totalBytes }),
    clear: () => printer?.clear(),
  }
}

interface Row {
  readonly name: string
  readonly type: string
  readonly size: number
  readonly lastModified: string | null
}

export const ls = async (context: Context, path: string, { recursive, long }: { recursive?: true; long?: true }) => {
  const { client, signal } = context
  const folder = sitePath(path)
  const row = ({ name, type, size, lastModified }: Row) => {
    const shownName = type === 'folder' ? `${name}/` : name
    const details = long
      ? `${(lastModified ?? '').padEnd(24)}  ${(type === 'folder' ? '' : sizeOf(size)).padStart(10)}  `
      : ''
    print(context, { name, type, size, lastModified }, `${details}${shownName}`)
  }
  if (recursive) {
    for await (const file of client.files.listAll(folder, signal)) row({ ...file, name: file.path })
    return
  }
  const entry = folder === '' ? undefined : await client.files.stat(folder)
  if (entry?.type === 'file') row(entry)
  else for await (const each of client.files.list(folder)) row(each)
}

export const cat = async ({ client, signal }: Context, given: string) => {
  const path = pathBelowRoot(given, 'Name a file to print.')
  const { type, etag = '*', size } = await client.files.stat(path)
  if (type === 'folder') throw new UsageError(`"${path}" is a folder. List it with "site-files ls".`)
  for await (const bytes of readBytes(client.files, { path, etag, size }, signal))
    if (!writeOut(bytes)) await once(process.stdout, 'drain', { signal })
}

const destinations = async (context: Context, to: string, names: readonly string[]) => {
  const [name] = names
  if (names.length === 1 && name !== undefined) return [await destination(context, to, name)]
  const there = await find(context, sitePath(to))
  if (there?.type === 'file') throw new UsageError(`"${to}" is a file, and several files need a folder. Name a folder.`)
  if (new Set(names).size < names.length)
    throw new UsageError('Two of the files have the same name, so one would replace the other. Upload them one by one.')
  const folder = there?.path ?? (await newPath(context, sitePath(to)))
  return names.map((each) => ({ path: joinPath(folder, each), replace: true }))
}

/** Fails if the file changes during the upload, so that the site never gets a mixture of two states. */
const openUnmodified = async (file: string) => {
  const location = await realpath(file)
  const state = { location, ...stateOf(await stat(location)) }
  return openFile(location, async () => {
    if (isUnmodified(state)) return
    throw new LocalRefusal(`${file} changed during the upload. Repeat the command when nobody writes to the file.`)
  })
}

const withPath = (error: unknown, path: string): unknown =>
  error instanceof ServiceError ? new ServiceError({ ...error, message: error.message, path }) : error

/** Names the file. For a conflict, the message of the library suggests options that this command does not have. */
const explain = async (context: Context, path: string, error: unknown): Promise<unknown> => {
  if (!hasStatus(error, 412)) return withPath(error, path)
  const isFolder = (await find(context, path))?.type === 'folder'
  return new LocalRefusal(
    isFolder
      ? `"${path}" is a folder of the site. Choose another path for the file.`
      : `"${path}" was changed by someone else in the meantime. Repeat the command to replace it.`,
    true,
  )
}

export const put = async (context: Context, files: readonly string[], to: string) => {
  const { client, signal } = context
  let totalBytes = 0
  for (const file of files) {
    const info = await stat(file)
    totalBytes += info.size
    if (info.isDirectory())
      throw new UsageError(`"${file}" is a folder. Upload it with "site-files push ${shellWord(file)} PATH".`)
    // A pipe or a device has an unknown size, and would be stored as an empty file.
    if (!info.isFile())
      throw new UsageError(`"${file}" is not a regular file. Save its content to a file, and upload that file.`)
  }
  const names = files.map((file) => basename(file).normalize('NFC'))
  const places = await destinations(context, to, names)
  const live = liveLine(context, files.length, totalBytes)
  let before = 0
  for (const [index, { path, replace }] of places.entries()) {
    const source = await openUnmodified(files[index] ?? '')
    try {
      const onProgress = ({ sent }: { sent: number }) => live.tell(index, before + sent)
      await client.files.put(path, source, { replace, signal, onProgress })
    } catch (error) {
      throw await explain(context, path, error)
    } finally {
      live.clear()
      await source.close()
    }
    before += source.size
    print(context, { path, size: source.size }, `${path}  ${sizeOf(source.size)}`)
  }
}

const stateAt = async (context: Context, path: string): Promise<FileCondition> => {
  const { etag } = await findExactly(context, path)
  return etag === undefined ? {} : { etag }
}

const namingTarget = (path: string) => (error: unknown) => {
  throw Object(error).code === 104022 ? withPath(error, path) : error
}

export const move = async (context: Context, given: string, to: string) => {
  const from = pathBelowRoot(given)
  const path = (await caseRenameTarget(context, from, to)) ?? (await destination(context, to, nameOf(from))).path
  await context.client.files.move(from, path, await stateAt(context, from)).catch(namingTarget(path))
  print(context, { from, path }, path)
}

export const copy = async (context: Context, given: string, to: string) => {
  const from = pathBelowRoot(given)
  const { path } = await destination(context, to, nameOf(from))
  await context.client.files.copy(from, path, await stateAt(context, from)).catch(namingTarget(path))
  print(context, { from, path }, path)
}

const isWanted = async (
  { signal }: Context,
  path: string,
  what: string,
  type: string,
  yes: true | undefined,
): Promise<boolean> => {
  if (type !== 'folder' || yes) return true
  const agreed = await askYesNo(escapeControls(`Remove ${what}?`), signal)
  if (agreed !== undefined) return agreed
  throw new LocalRefusal(
    `"${path}" is a folder (${what}). Add --yes to remove it with everything in it, or --dry-run to check first.`,
  )
}

interface RemoveFlags {
  readonly dryRun?: true
  readonly yes?: true
}

const removeOne = async (context: Context, path: string, { dryRun, yes }: RemoveFlags): Promise<void> => {
  const { files } = context.client
  const { type, etag } = await findExactly(context, path)
  const { files: count, bytes, atLeast, code } = await files.removal(path)
  const what = `${path}: ${atLeast ? 'at least ' : ''}${count} ${count === 1 ? 'file' : 'files'}, ${sizeOf(bytes)}`
  const removed = !dryRun && (await isWanted(context, path, what, type, yes))
  if (removed) await files.remove(path, etag === undefined ? {} : { etag })
  if (!removed && !dryRun) return
  const would = code === undefined ? 'would remove' : `would be refused (${code})`
  print(context, { path, type, files: count, bytes, removed, code }, `${removed ? 'removed' : would}  ${what}`)
}

export const remove = async (context: Context, paths: readonly string[], flags: RemoveFlags) => {
  const wanted = paths.map((path) => pathBelowRoot(path))
  for (const path of wanted.length > 1 ? wanted : []) await findExactly(context, path)
  for (const path of wanted) await removeOne(context, path, flags)
}

export const restore = async (
  context: Context,
  given: string,
  { state, replace }: { state?: string; replace?: true },
) => {
  const path = pathBelowRoot(given)
  const options = { ...(state !== undefined && { version: state }), ...(replace && { replace }) }
  await context.client.files.restore(path, options)
  print(context, { path, restored: true }, `restored  ${path}`)
}

const versionsOf = async function* (context: Context, path: string) {
  try {
    yield* context.client.files.versions(path)
  } catch (error) {
    if (hasStatus(error, 404)) await findExactly(context, path)
    throw error
  }
}

export const purge = async (context: Context, given: string, { state, yes }: { state?: string; yes?: true }) => {
  const path = pathBelowRoot(given, 'Name a file to purge its old versions.')
  const { files } = context.client
  let [count, bytes] = [0, 0]
  for await (const { version, current, size } of versionsOf(context, path)) {
    if (current || (state !== undefined && state !== version)) continue
    count += 1
    bytes += size
  }
  if (count === 0 && !yes) {
    if (state !== undefined)
      throw new LocalRefusal(`${path} has no old version "${state}". "site-files versions" lists its versions.`)
    const ofDraft = /\.html?$/i.test(path) ? '. Add --yes to purge also the old versions of a draft.' : ''
    return print(context, { path, versions: 0, bytes: 0, purged: false }, `nothing to purge  ${path}${ofDraft}`)
  }
  const what = `${path}: ${count} ${count === 1 ? 'old version' : 'old versions'}, ${sizeOf(bytes)}`
  const agreed = yes ?? (await askYesNo(escapeControls(`Delete for good ${what}?`), context.signal))
  if (agreed === undefined)
    throw new LocalRefusal(
      `A purge deletes these versions for good (${what}). Nothing was purged. Add --yes to purge them.`,
    )
  if (!agreed) return
  await files.purge(path, { version: state })
  print(context, { path, versions: count, bytes, purged: true }, `purged  ${what}`)
}

export const versions = async (context: Context, given: string) => {
  const path = pathBelowRoot(given, 'Name a file to list its versions.')
  for await (const state of versionsOf(context, path)) {
    const note = state.current ? 'current' : state.removed ? 'removed' : 'replaced'
    print(context, state, `${state.at}  ${sizeOf(state.size).padStart(10)}  ${state.version}  ${note}`)
  }
}
