import { ServiceError } from '../../core/errors.ts'
import { contentTypeOf, createTemplateCheck, isPage, isTemplate } from '../file-kind.ts'
import type { Change, Staged } from '../object-store.ts'
import { fileKey, folderKey, nameOf, parentOf, root, type StoragePath } from '../path.ts'
import { refuse } from '../refusals.ts'
import { change, noFileAt, type Plan, type Requester, type StorageStores } from './change.ts'
import { absencesOf, isInWorkflow, look, lookAgain, type Place, pathsOf, planAt, type Seen } from './look.ts'

export interface FileContent {
  readonly contentType: string | undefined
  readonly content: AsyncIterable<Uint8Array>
  readonly hasArrived?: () => boolean
}

export const fileTooLarge = (limit: number): ServiceError =>
  new ServiceError('fileTooLarge', {
    message:
      `The file is larger than the ${limit} bytes allowed here in one request. Send it as a resumable ` +
      'upload (tus 1.0), in pieces of up to that size.',
  })

export interface UploadDeps extends StorageStores {
  readonly largestFile: number
}

/** `key` is undefined while the path is unknown. Errors: fileTooLarge, those of a template, those of the content. */
export const stageContent = (
  { files, largestFile }: UploadDeps,
  path: StoragePath,
  key: string | undefined,
  { contentType, content }: FileContent,
): Promise<Staged> => {
  async function* inspected(): AsyncGenerator<Uint8Array> {
    const template = isTemplate(path) ? createTemplateCheck() : undefined
    let size = 0
    for await (const chunk of content) {
      size += chunk.length
      if (size > largestFile) throw fileTooLarge(largestFile)
      template?.write(chunk)
      yield chunk
    }
    const fault = template?.end()
    if (fault) throw new ServiceError(fault)
  }
  return files.stage(inspected(), { key, contentType: contentTypeOf(nameOf(path), contentType) })
}

export const admit = async (stores: StorageStores, place: Place, requester: Requester): Promise<Seen> => {
  if (place.path === root) throw new ServiceError('nameRequired')
  const seen = await look(stores, place, requester)
  const { taken, checked } = seen
  refuse([
    taken.has('folderUnknown') && 'folderUnknown',
    taken.has('pathUnknown') && 'pathUnknown',
    checked.refusal,
    taken.has('destinationExists') && 'destinationExists',
  ])
  return seen
}

export const editionOf = ({ path, asDraft }: Place) => (asDraft && isPage(path) ? 'draft' : 'live')

export const entryOf = ({ path, into, asDraft, names }: Place) => {
  const stored = names ?? (into === undefined ? undefined : [nameOf(path)])
  const details = { ...(stored && { names: stored }), ...(asDraft && isPage(path) && { draft: true }) }
  const hasDetails = Object.keys(details).length > 0
  const subject = into === undefined ? path : parentOf(path)
  return { type: 'file.stored', subject, ...(hasDetails && { details }) } as const
}

const planPut = (seen: Seen, staged: readonly Staged[]): Plan => {
  const { place, locks } = seen
  const { site, path, keepsDraft } = place
  const edition = editionOf(place)
  const isPublished = edition === 'live' && !keepsDraft && isPage(path)
  const published: readonly Change[] = isPublished ? [{ kind: 'remove', key: fileKey('draft', site, path) }] : []
  const paths = pathsOf(place)
  const puts = staged.map((one, index): Change => {
    return { kind: 'put', key: fileKey(edition, site, paths[index] ?? path), staged: one }
  })
  const changes = [...puts, ...published]
  return planAt(seen, { changes, absent: absencesOf(place), seenLocks: locks, entry: entryOf(place) })
}

/** S-47, S-48. Discards the staged bytes when the change is refused. */
export const putStaged = async (stores: StorageStores, seen: Seen, staged: readonly Staged[], requester: Requester) => {
  const { place, taken } = seen
  try {
    const isRunning = await isInWorkflow(stores, place.site, pathsOf(place))
    refuse([isRunning && 'workflowUpdated', taken.has('destinationExists') && 'destinationExists'])
    const again = (before: Seen) => lookAgain(stores, before, requester)
    await change(stores, seen, (now) => planPut(now, staged), requester, again)
  } catch (error) {
    await Promise.allSettled(staged.map((one) => one.discard()))
    throw error
  }
}

export const putFile = async (
  deps: UploadDeps,
  wanted: Pick<Place, 'path' | 'asDraft'>,
  content: FileContent,
  requester: Requester,
): Promise<void> => {
  const admitted = await admit(deps, { ...wanted, site: requester.site, kind: 'file' }, requester)
  const seen = content.hasArrived?.() ? admitted : { ...admitted, locks: undefined }
  const { site, path } = seen.place
  const staged = await stageContent(deps, path, fileKey(editionOf(seen.place), site, path), content)
  await putStaged(deps, seen, [staged], requester)
}

const planFolder = (seen: Seen): Plan => {
  const { site, path } = seen.place
  const changes = [{ kind: 'folder', key: folderKey('live', site, path) }] as const
  const absent = noFileAt(site, [path], 'destinationExists')
  return planAt(seen, { changes, absent, entry: { type: 'folder.created', subject: path } })
}

/** S-49. An existing folder stays. */
export const createFolder = async (stores: StorageStores, path: StoragePath, requester: Requester): Promise<void> => {
  const seen = await admit(stores, { site: requester.site, path, kind: 'folder' }, requester)
  await change(stores, seen, planFolder, requester, (before) => lookAgain(stores, before, requester))
}
