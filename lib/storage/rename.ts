import { type ErrorName, ServiceError } from '../errors.ts'
import type { SiteId } from '../ids.ts'
import { inParallel } from '../in-parallel.ts'
import { expectSource, type Source } from './conditions.ts'
import { contentTypeOf, isPage, isTemplate } from './file-kind.ts'
import type { Change, ObjectStore } from './object-store.ts'
import { listAll } from './object-store.ts'
import {
  type Area,
  childOf,
  fileKey,
  folderKey,
  longestPath,
  nameOf,
  parentOf,
  parseName,
  pathIn,
  root,
  type StoragePath,
} from './path.ts'
import {
  type Absences,
  mostAttempts,
  putInPlace,
  type Requester,
  refuseGoing,
  refuseRivals,
  type StorageStores,
} from './put-in-place.ts'
import { createTemplateCheck } from './template.ts'

export interface RenameDeps extends StorageStores {
  readonly reservedFolders: readonly string[]
}

/**
 * A folder with more than this in it is not renamed: all of it becomes visible under the new name at once, or nothing does, and nobody
 * waits for that any longer. It is a bound on memory, too.
 */
const mostObjects = 10_000

/** What the reading of templates leaves of the time for moving them, in milliseconds. */
const timeToMove = 12_000

const tooMuchToRename = (): ServiceError =>
  new ServiceError('storageRefused', {
    message: 'The folder holds too much to be renamed in one go. Upload it under its new name, then delete this one.',
  })

const areas: readonly Area[] = ['live', 'draft']

/** The moves of a file, and of its draft. Without any, there is no such file. */
const movesOfFile = async (store: ObjectStore, site: SiteId, from: StoragePath, to: StoragePath): Promise<Change[]> => {
  const moves = await Promise.all(
    areas
      .filter((area) => area === 'live' || isPage(from))
      .map(async (area): Promise<Change | undefined> => {
        const info = await store.find(fileKey(area, site, from))
        if (!info) return undefined
        // What is no page has no draft.
        if (area === 'draft' && !isPage(to)) return { kind: 'remove', key: info.key }
        const contentType = contentTypeOf(nameOf(to), info.contentType)
        return { kind: 'move', from: info, key: fileKey(area, site, to), contentType }
      }),
  )
  return moves.filter((move) => move !== undefined)
}

/** The moves of everything in a folder, the folder itself among it. Without any, there is no such folder. Errors: storageRefused. */
const movesOfFolder = async (
  store: ObjectStore,
  site: SiteId,
  from: StoragePath,
  to: StoragePath,
): Promise<Change[]> => {
  const moves: Change[] = []
  for (const area of areas) {
    const prefix = folderKey(area, site, from)
    for await (const objects of listAll(store, prefix)) {
      for (const object of objects) {
        const name = object.key.slice(prefix.length)
        // A template has no draft.
        if (area === 'draft' && isTemplate(`${to}/${name}`)) moves.push({ kind: 'remove', key: object.key })
        else moves.push({ kind: 'move', from: object, key: `${folderKey(area, site, to)}${name}` })
      }
      if (moves.length > mostObjects) throw tooMuchToRename()
    }
  }
  return moves
}

/** A path that grows with its folder's name must stay within the bounds, in each area. Errors: urlInvalid. */
const checkLengths = (moves: readonly Change[]): void => {
  if (moves.some(({ kind, key }) => kind === 'move' && Buffer.byteLength(pathIn(key)) > longestPath)) {
    throw new ServiceError('urlInvalid', {
      message: 'With that name, the path of something in the folder becomes too long.',
    })
  }
}

type Move = Extract<Change, { kind: 'move' }>

/** How many files are read at once. */
const readsInFlight = 16

/** The moves that make a template of what was none. */
const templatesAmong = (site: SiteId, changes: readonly Change[]): readonly Move[] => {
  const prefix = folderKey('live', site, root)
  return changes.filter(
    (change): change is Move =>
      change.kind === 'move' &&
      change.key.startsWith(prefix) &&
      isTemplate(change.key.slice(prefix.length)) &&
      !isTemplate(change.from.key.slice(prefix.length)),
  )
}

const faultOf = async (store: ObjectStore, key: string): Promise<ErrorName | undefined> => {
  const object = await store.read(key, ({ size }) => ({ first: 0, last: size - 1 }), 'bytes=0-')
  if (!object) return undefined
  const check = createTemplateCheck()
  const { body = [] } = object
  for await (const chunk of body instanceof Uint8Array ? [body] : body) check.write(chunk)
  return check.end()
}

/**
 * What becomes a template by its new name must hold what a template holds, as when it is uploaded (decisions.md, section 5). What is
 * replaced or removed meanwhile is not moved, since it is no longer in the version that was listed. Errors: storageRefused (the time is up),
 * those of a template.
 */
const checkTemplates = async (
  store: ObjectStore,
  site: SiteId,
  moves: readonly Move[],
  isTimeUp: () => boolean,
): Promise<void> => {
  const check = async ({ from, key }: Move) => {
    if (isTimeUp()) throw tooMuchToRename()
    const fault = await faultOf(store, from.key)
    if (!fault) return
    const path = key.slice(folderKey('live', site, root).length)
    throw new ServiceError(fault, { message: `${path}: ${new ServiceError(fault).message}` })
  }
  await inParallel(moves, readsInFlight, check)
}

/** What the path names, as its moves have it: the live file, or a folder. A page that has a draft alone is not there. */
const sourceOf = (key: string, file: readonly Change[], folder: readonly Change[]): Source => {
  const froms = file.flatMap((change) => (change.kind === 'move' ? [change.from] : []))
  return froms.find((from) => from.key === key) ?? (file.length === 0 && folder.length > 0 ? 'folder' : undefined)
}

interface Renaming {
  readonly site: SiteId
  readonly path: StoragePath
  readonly target: StoragePath
  readonly requester: Requester
}

/** One attempt. Answers false when something has changed under its hands. */
const attempt = async (deps: RenameDeps, { site, path, target, requester }: Renaming): Promise<boolean> => {
  const { author, remainingTime, conditions } = requester
  const { files, workflows, reservedFolders } = deps
  const file = await movesOfFile(files, site, path, target)
  const moves = file.length > 0 ? file : await movesOfFolder(files, site, path, target)
  const matching = expectSource(conditions, sourceOf(fileKey('live', site, path), file, moves))
  if (moves.length === 0) throw new ServiceError('fileUnknown')
  if (file.length === 0 && reservedFolders.includes(path)) throw new ServiceError('folderReserved')
  const inWorkflow = file.length > 0 ? workflows.isRunning(site, [path]) : workflows.isRunningBelow(site, path)
  if (await inWorkflow) throw new ServiceError('workflowUpdated')
  if (target === path) return true
  checkLengths(moves)
  const absent: Absences = [
    [fileKey('live', site, target), 'destinationExists'],
    [fileKey('draft', site, target), 'destinationExists'],
    [folderKey('live', site, target), 'destinationExists'],
  ]
  const templates = templatesAmong(site, moves)
  if (templates.length > 0) {
    await refuseRivals(deps, absent)
    await checkTemplates(files, site, templates, () => remainingTime() < timeToMove)
  }
  const entry = { ...author, site, type: 'file.moved' as const, subject: path, details: { to: target } }
  const placement = { site, paths: [path, target], changes: moves, absent, matching, remainingTime, entry }
  const outcome = await putInPlace(deps, placement)
  if (outcome === 'late') throw file.length > 0 ? new ServiceError('unavailable') : tooMuchToRename()
  return outcome === 'placed'
}

/**
 * Gives a file or a folder another name in the folder that it is in; drafts go along (decisions.md, section 5). Errors: nameRequired, urlInvalid, nameTooLong, conditionFailed, folderReserved, fileUnknown, destinationExists,
 * workflowUpdated, folderGoing, storageRefused (more than can be done in that time), unavailable, those of a template.
 */
export const rename = async (
  deps: RenameDeps,
  site: SiteId,
  path: StoragePath,
  newName: string,
  requester: Requester,
): Promise<void> => {
  const name = parseName(newName)
  if (path === root) throw new ServiceError('nameRequired')
  const target = childOf(parentOf(path), name)
  await refuseGoing(deps.removals, site, [path, target])
  if (await deps.removals.isOpenBelow(site, path)) throw new ServiceError('folderGoing')
  for (let count = 0; count < mostAttempts; count++) {
    if (await attempt(deps, { site, path, target, requester })) return
  }
  throw new ServiceError('unavailable')
}
