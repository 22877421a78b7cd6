import { ServiceError } from '../../core/errors.ts'
import { type CheckedConditions, checkConditions, namesStates } from '../conditions.ts'
import { readAhead } from '../content.ts'
import type { Staged } from '../object-store.ts'
import { childOf, fileKey, folderKey, nameOf, parseFileName, type StoragePath } from '../path.ts'
import { refuse, storageRefused } from '../refusals.ts'
import type { Requester } from './change.ts'
import { look, type Seen } from './look.ts'
import { type FileContent, putStaged, stageContent, type UploadDeps } from './put.ts'

export interface IncomingFile extends FileContent {
  /** Empty if the client gave no name. Undefined if the part is not a file. */
  readonly fileName: string | undefined
}

interface Part {
  readonly name: string
  readonly path: StoragePath
  readonly checked: CheckedConditions
  /**
   * Undefined when a tag does not match. The rest of the body is still read, because the error of a second file comes
   * first.
   */
  readonly staging?: Promise<Staged>
}

export const mostFiles = 100

// In bytes. Smaller files are staged side by side, larger files one after the other.
const smallFile = 64 * 1024

const nameOfPart = (fileName: string | undefined, earlier: readonly Part[]): string => {
  if (fileName === undefined) {
    throw new ServiceError('notAFile', { message: 'The part "file" has no file name. Send the file name.' })
  }
  const name = parseFileName(fileName)
  refuse([
    earlier.some((part) => part.staging && part.name === name) && 'nameTaken',
    earlier.length === mostFiles && storageRefused(`An upload can contain at most ${mostFiles} files.`),
  ])
  return name
}

const lookAtPart = async (
  { files }: UploadDeps,
  { place: { site, path: folder }, taken }: Seen,
  name: string,
  isFirst: boolean,
  { conditions }: Requester,
): Promise<Part> => {
  // The file gets the path of the folder only if it stays the only file (S-34).
  const isAtFolder = isFirst && name === nameOf(folder) && !(await files.exists(folderKey('live', site, folder)))
  const path = isAtFolder ? folder : childOf(folder, name)
  refuse([!isAtFolder && taken.has('folderUnknown') && 'folderUnknown'])
  const needsOne = namesStates(conditions)
  if (!isFirst && needsOne) {
    throw storageRefused('A tag in If-Match or If-None-Match applies to one file. Send a single file, or no tag.')
  }
  const checked = await checkConditions(files, site, [path], false, conditions)
  if (!needsOne) refuse([checked.refusal])
  return { name, path, checked }
}

const stageParts = async (
  deps: UploadDeps,
  seen: Seen,
  incoming: AsyncIterable<IncomingFile>,
  requester: Requester,
  parts: Part[],
): Promise<void> => {
  for await (const { fileName, contentType, content } of incoming) {
    const name = nameOfPart(fileName, parts)
    const part = await lookAtPart(deps, seen, name, parts.length === 0, requester)
    const { path, checked } = part
    if (checked.refusal) {
      parts.push(part)
      continue
    }
    const ahead = await readAhead(content, smallFile)
    const key = path === seen.place.path ? undefined : fileKey('live', seen.place.site, path)
    const staging = stageContent(deps, path, key, { contentType, content: ahead.content })
    parts.push({ ...part, staging })
    if (ahead.isWhole) staging.catch(() => {})
    else await staging
  }
  if (parts.length === 0) throw storageRefused('The request contains no file. Send each file as a part named "file".')
}

// With more names than this, one listing of the folder costs less than a request for each name.
const mostLooks = 12

// Reads a small body as a whole. The returned `incoming` yields the files again, and then throws if the body is
// malformed.
const readArrived = async (incoming: AsyncIterable<IncomingFile>) => {
  const files: IncomingFile[] = []
  let failure: { readonly error: unknown } | undefined
  try {
    for await (const file of incoming) {
      files.push(file)
      const { content } = await readAhead(file.content, Number.POSITIVE_INFINITY)
      files.splice(-1, 1, { ...file, content })
    }
  } catch (error) {
    failure = { error }
  }
  async function* replayed(): AsyncGenerator<IncomingFile, void> {
    yield* files
    if (failure) throw failure.error
  }
  return { files, incoming: replayed() }
}

const namesToLookAt = (folder: StoragePath, files: readonly IncomingFile[]): readonly string[] | undefined => {
  if (files.length > mostLooks) return undefined
  try {
    return files.map(({ fileName = '' }) => nameOf(childOf(folder, parseFileName(fileName))))
  } catch {
    return undefined
  }
}

const assignPaths = async (
  deps: UploadDeps,
  seen: Seen,
  parts: readonly Part[],
  { conditions }: Requester,
): Promise<Seen> => {
  const { place, ancestors } = seen
  const { site, path: folder } = place
  const inFolder = async (part: Part): Promise<Part> => {
    if (part.path !== folder) return part
    const path = childOf(folder, part.name)
    return { ...part, path, checked: await checkConditions(deps.files, site, [path], false, conditions) }
  }
  const settled = parts.length === 1 ? parts : await Promise.all(parts.map(inFolder))
  refuse(settled.map(({ checked }) => checked.refusal))
  const checked = { matching: settled.flatMap(({ checked: { matching } }) => matching) }
  if (settled[0]?.path !== folder)
    return { ...seen, checked, place: { ...place, names: settled.map(({ name }) => name) } }
  return {
    ...seen,
    checked,
    place: { site, path: folder, kind: 'file', into: folder, keepsDraft: true },
    ancestors: { ...ancestors, missing: ancestors.missing.filter((one) => one !== folder) },
    locks: undefined,
    taken: new Set(),
  }
}

/** Operation 12 (S-27 to S-46): stores files in a folder and creates the folder. All or nothing. */
export const uploadFiles = async (
  deps: UploadDeps,
  wanted: StoragePath,
  body: { readonly files: AsyncIterable<IncomingFile>; readonly hasArrived: boolean },
  requester: Requester,
): Promise<void> => {
  const arrived = body.hasArrived ? await readArrived(body.files) : undefined
  const names = arrived && namesToLookAt(wanted, arrived.files)
  const looked = await look(
    deps,
    { site: requester.site, path: wanted, kind: 'files', keepsDraft: true, names },
    requester,
  )
  const before = names ? looked : { ...looked, locks: undefined }
  refuse([before.taken.has('pathUnknown') && 'pathUnknown'])
  const parts: Part[] = []
  try {
    await stageParts(deps, before, arrived?.incoming ?? body.files, requester, parts)
    const staged = (await Promise.all(parts.map(({ staging }) => staging))).filter((one) => one !== undefined)
    await putStaged(deps, await assignPaths(deps, before, parts, requester), staged, requester)
  } catch (error) {
    await Promise.allSettled(parts.map(async ({ staging }) => (await staging)?.discard()))
    throw error
  }
}
