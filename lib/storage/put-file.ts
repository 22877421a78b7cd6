import { ServiceError } from '../errors.ts'
import type { SiteId } from '../ids.ts'
import { seeConditions } from './conditions.ts'
import { isPage } from './file-kind.ts'
import { onFoundWay } from './look-up.ts'
import type { Change } from './object-store.ts'
import { type Area, ancestorsOf, fileKey, folderKey, root, type StoragePath } from './path.ts'
import {
  type Absences,
  allInOrder,
  findWay,
  noFileFor,
  putOnWay,
  type Requester,
  refuseGoing,
  refuseRivals,
} from './put-in-place.ts'
import { type FileContent, stageFile } from './stage-file.ts'
import type { UploadDeps } from './upload-files.ts'

/**
 * Stores the content of one file; a live page's draft is gone then (decisions.md, section 5, "Raw upload"). What is no page has no
 * drafts: its draft is the live file. Errors: nameRequired, pathUnknown, conditionFailed, destinationExists, workflowUpdated, folderGoing,
 * fileTooLarge, unavailable, those of a template.
 */
export const putFile = async (
  deps: UploadDeps,
  site: SiteId,
  path: StoragePath,
  asDraft: boolean,
  content: FileContent,
  requester: Requester,
): Promise<void> => {
  if (path === root) throw new ServiceError('nameRequired')
  const { author, remainingTime, isAsWritten } = requester
  const area: Area = asDraft && isPage(path) ? 'draft' : 'live'
  const absent: Absences = [[folderKey('live', site, path), 'destinationExists']]
  const folders = ancestorsOf(path)
  const see = () => seeConditions(deps.files, site, path, asDraft, requester.conditions)
  // Looked at beside the way to it, and told of after that.
  const seeing = allInOrder([see(), refuseRivals(deps, absent)])
  seeing.catch(() => {})
  const [way] = await allInOrder([findWay(deps.files, site, folders), refuseGoing(deps.removals, site, [path])])
  const found = isAsWritten ? path : await onFoundWay(deps.files, site, path, way)
  if (found !== path) return putFile(deps, site, found, asDraft, content, { ...requester, isAsWritten: true })
  await refuseRivals(deps, noFileFor(site, way))
  const [matching] = await seeing
  const staged = await stageFile(deps, { site, area, path, isSettled: true }, content)
  try {
    if (isPage(path) && (await deps.workflows.isRunning(site, [path]))) throw new ServiceError('workflowUpdated')
    const published: Change[] =
      area === 'live' && isPage(path) ? [{ kind: 'remove', key: fileKey('draft', site, path) }] : []
    await putOnWay(deps, folders, way, {
      site,
      paths: [path],
      changes: [{ kind: 'put', key: fileKey(area, site, path), staged }, ...published],
      absent,
      matching,
      see,
      remainingTime,
      entry: {
        ...author,
        site,
        type: 'file.stored',
        subject: path,
        ...(area === 'draft' && { details: { draft: true } }),
      },
    })
  } catch (error) {
    // The caller is told what failed first.
    await staged.discard().catch(() => {})
    throw error
  }
}
