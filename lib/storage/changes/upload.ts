import { ServiceError } from '../../core/errors.ts'
import { type CheckedConditions, checkConditions, namesStates } from '../conditions.ts'
import type { Staged } from '../object-store.ts'
import { ancestorsOf, childOf, fileKey, folderKey, nameOf, parseFileName, root, type StoragePath } from '../path.ts'
import { readAhead } from '../read-ahead.ts'
import { change, noFileAt, type Plan, type Refusals, type Requester, refuse, type StorageStores } from './change.ts'
import { isInWorkflow, look, lookAgain, type Place, type Seen } from './look.ts'
import { type FileContent, type StageDeps, stageContent } from './put.ts'

export interface IncomingFile extends FileContent {
  /** Empty when the client gave none. Undefined when the part is no file. */
  readonly fileName: string | undefined
}

interface Part {
  readonly name: string
  readonly path: StoragePath
  readonly checked: CheckedConditions
  /** Undefined when a tag does not match, because a second file is the error to report first. */
  readonly staging?: Promise<Staged>
}

type UploadDeps = StageDeps & StorageStores

export const mostFiles = 100

// Bytes. Smaller files are staged side by side, larger ones one after the other.
const smallFile = 64 * 1024

const refused = (message: string) => new ServiceError('storageRefused', { message })

const beforeBody = ({ isLocked, taken }: Seen): Refusals => [
  isLocked && 'folderLocked',
  taken.has('pathUnknown') && 'pathUnknown',
]

const parseName = (fileName: string | undefined, earlier: readonly Part[]): string => {
  if (fileName === undefined) {
    throw new ServiceError('notAFile', { message: 'The part "file" has no file name. Send one.' })
  }
  const name = parseFileName(fileName)
  refuse([
    earlier.some((part) => part.staging && part.name === name) && 'nameTaken',
    earlier.length === mostFiles && refused(`An upload can contain at most ${mostFiles} files.`),
  ])
  return name
}

const lookAtPart = async (
  { files }: UploadDeps,
  { site, path: folder }: Place,
  name: string,
  isFirst: boolean,
  { conditions = {} }: Requester,
): Promise<Part> => {
  // It replaces the folder's path only if it stays the only file (S-34).
  const isAtFolder = isFirst && name === nameOf(folder) && !(await files.exists(folderKey('live', site, folder)))
  const path = isAtFolder ? folder : childOf(folder, name)
  const needsOne = namesStates(conditions)
  if (!isFirst && needsOne) {
    throw refused('A tag in If-Match or If-None-Match names one file, but the request has several. Send one.')
  }
  const checked = await checkConditions(files, site, [path], false, conditions)
  if (!needsOne) refuse([checked.refusal])
  return { name, path, checked }
}

const stageParts = async (
  deps: UploadDeps,
  place: Place,
  incoming: AsyncIterable<IncomingFile>,
  requester: Requester,
  parts: Part[],
): Promise<void> => {
  for await (const { fileName, contentType, content } of incoming) {
    const name = parseName(fileName, parts)
    const part = await lookAtPart(deps, place, name, parts.length === 0, requester)
    const { path, checked } = part
    if (checked.refusal) {
      parts.push(part)
      continue
    }
    const ahead = await readAhead(content, smallFile)
    const key = path === place.path ? undefined : fileKey('live', place.site, path)
    const staging = stageContent(deps, path, key, { contentType, content: ahead.content })
    parts.push({ ...part, staging })
    if (ahead.isWhole) staging.catch(() => {})
    else await staging
  }
  if (parts.length === 0) throw refused('The request contains no file. Send each file as a part named "file".')
}

const discardAll = async (parts: readonly Part[]): Promise<void> => {
  await Promise.allSettled(parts.map(async ({ staging }) => (await staging)?.discard()))
}

/** The files with their final paths: only a single one can have the folder's path. */
const settle = async (deps: UploadDeps, seen: Seen, parts: readonly Part[], { conditions }: Requester) => {
  const { site, path: folder } = seen.place
  const inFolder = async (part: Part): Promise<Part> => {
    if (part.path !== folder) return part
    const path = childOf(folder, part.name)
    return { ...part, path, checked: await checkConditions(deps.files, site, [path], false, conditions) }
  }
  const settled = parts.length === 1 ? parts : await Promise.all(parts.map(inFolder))
  refuse(settled.map(({ checked }) => checked.refusal))
  const checked = { matching: settled.flatMap(({ checked: { matching } }) => matching) }
  const paths = settled.map(({ path }) => path)
  if (!paths.includes(folder)) return { paths, seen: { ...seen, checked } }
  const missing = seen.ancestors.missing.filter((one) => one !== folder)
  return { paths, seen: { ...seen, checked, folders: ancestorsOf(folder), ancestors: { ...seen.ancestors, missing } } }
}

const planUpload = (
  { place: { site, path: folder }, ancestors, checked }: Seen,
  paths: readonly StoragePath[],
  staged: readonly Staged[],
): Plan => {
  if (checked.refusal) return checked.refusal
  const isFolderTarget = folder === root || paths.includes(folder)
  return {
    // One lookup of the folder covers all of its files.
    paths: [folder],
    changes: staged.map((one, index) => ({
      kind: 'put',
      key: fileKey('live', site, paths[index] ?? folder),
      staged: one,
    })),
    absent: [
      ...(isFolderTarget ? [] : noFileAt(site, [folder], 'folderUnknown')),
      ...paths.map((path) => [folderKey('live', site, path), 'destinationExists'] as const),
    ],
    ancestors,
    matching: checked.matching,
    entry: { type: 'file.stored', subject: folder, details: { names: paths.map(nameOf) } },
  }
}

/** Operation 12 (S-27 to S-46): stores files in a folder and creates the folder. All or nothing. */
export const uploadFiles = async (
  deps: UploadDeps,
  wanted: StoragePath,
  incoming: AsyncIterable<IncomingFile>,
  requester: Requester,
): Promise<void> => {
  const { site } = requester
  const before = await look(deps, { site, path: wanted, kind: 'files' }, requester)
  refuse(beforeBody(before))
  const parts: Part[] = []
  try {
    await stageParts(deps, before.place, incoming, requester, parts)
    const staged = (await Promise.all(parts.map(({ staging }) => staging))).filter((one) => one !== undefined)
    const { paths, seen } = await settle(deps, before, parts, requester)
    refuse([(await isInWorkflow(deps, site, paths)) && 'workflowUpdated'])
    const again = (earlier: Seen) => lookAgain(deps, earlier, paths, requester)
    await change(deps, seen, (now) => planUpload(now, paths, staged), requester, again)
  } catch (error) {
    await discardAll(parts)
    throw error
  }
}
