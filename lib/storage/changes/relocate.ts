import { ServiceError } from '../../core/errors.ts'
import { reserves } from '../../core/time.ts'
import { isUnconditional, refusalOf } from '../conditions.ts'
import type { ObjectStore } from '../object-store.ts'
import {
  ancestorsOf,
  childOf,
  folderIn,
  folderKey,
  isReserved,
  parentOf,
  parseName,
  requireScope,
  root,
  type Scope,
  type StoragePath,
  toStoragePath,
} from '../path.ts'
import { type Refusals, refusalIn, refuse } from '../refusals.ts'
import { type Ancestors, findAncestors, resolveParent, resolvePath } from '../resolve-path.ts'
import { type Absences, type ChangeDeps, change, noFileAt, type Plan, type Requester } from './change.ts'
import { findTaken, isLocked, isRunningAt } from './look.ts'
import { checkTemplates, findTransfers, hasLongPath, type Relocation, templatesIn, tooMuch } from './transfers.ts'

type Destination = { readonly name: string } | { readonly path: string } | { readonly copyTo: string }

const wantedOf = (path: StoragePath, destination: Destination): Pick<Relocation, 'kind' | 'target'> => {
  if ('name' in destination) {
    const name = parseName(destination.name)
    if (path === root) throw new ServiceError('nameRequired')
    return { kind: 'move', target: childOf(parentOf(path), name) }
  }
  const isCopy = 'copyTo' in destination
  const target = toStoragePath(isCopy ? destination.copyTo : destination.path)
  if (path === root || target === root) throw new ServiceError('nameRequired')
  return { kind: isCopy ? 'copy' : 'move', target }
}

const scopeOfSource = (kind: Relocation['kind'], requester: Requester): Scope =>
  kind === 'copy' ? { ...requester, level: 'read' } : requester

// a move also changes the folder that contains the source, so the caller needs the right on this folder.
const requireBothEnds = (path: StoragePath, destination: Destination, requester: Requester): void => {
  if ('copyTo' in destination) requireScope(scopeOfSource('copy', requester), path)
  else requireScope(requester, parentOf(path))
  requireScope(requester, wantedOf(path, destination).target)
}

type SeenRelocation = Awaited<ReturnType<typeof lookAtTransfers>>

const urlInvalid = (message: string) => new ServiceError('urlInvalid', { message })

const absencesAtTarget = ({ site, target }: Relocation): Absences => [
  ...noFileAt(site, [target], 'destinationExists'),
  [folderKey('live', site, target), 'destinationExists'],
]

const planRelocation = (seen: SeenRelocation): Plan => {
  const { relocation, ancestors, changes, isFile, since, matching, refusal } = seen
  const { kind, site, path, target } = relocation
  if (refusal) return refusal
  if (target === path) return 'nothing'
  const isFileMove = kind === 'move' && isFile
  return {
    paths: [path, target, ...changes.map(({ key }) => folderIn(key))],
    changes,
    absent: absencesAtTarget(relocation),
    ancestors,
    matching,
    entry: { type: kind === 'copy' ? 'file.copied' : 'file.moved', subject: path, details: { to: target } },
    removedFolder: kind === 'move' && !isFile ? { site, folder: path, since } : undefined,
    late: isFileMove ? undefined : tooMuch(kind),
  }
}

const ancestorsOfTarget = async (files: ObjectStore, { site, path, target }: Relocation): Promise<Ancestors> =>
  parentOf(target) === parentOf(path)
    ? { existing: undefined, missing: [] }
    : findAncestors(files, site, ancestorsOf(target))

const spellTarget = async (files: ObjectStore, relocation: Relocation, requester: Requester) => {
  const ancestors = await ancestorsOfTarget(files, relocation)
  if (requester.isCaseSensitive) return { relocation, ancestors }
  const target = await resolvePath(files, requester, relocation.target, ancestors)
  if (target === relocation.target) return { relocation, ancestors }
  const spelled = { ...relocation, target }
  return { relocation: spelled, ancestors: await ancestorsOfTarget(files, spelled) }
}

const refusalsOf = async (
  deps: ChangeDeps,
  { kind, site, path, target }: Relocation,
  { isFile, changes }: Awaited<ReturnType<typeof findTransfers>>,
  hasTemplates: boolean,
  absences: Absences,
): Promise<Refusals> => {
  // A workflow may start before its page exists, so even a target that does not exist may have a workflow.
  const [isSourceInWorkflow, isTargetInWorkflow] = await Promise.all([
    kind === 'move' && isRunningAt(deps, site, path, isFile),
    target !== path && isRunningAt(deps, site, target, isFile),
  ])
  // The placement itself finds a taken target, but its refusal would come too late here.
  const [occupied] = isTargetInWorkflow || hasTemplates ? await findTaken(deps.files, absences) : []
  return [
    kind === 'move' && !isFile && isReserved(deps.reservedFolders, path) && 'folderReserved',
    isSourceInWorkflow && 'workflowUpdated',
    target.startsWith(`${path}/`) && urlInvalid('The new path is inside the old one. Choose a path outside it.'),
    kind === 'copy' && target === path && 'destinationExists',
    hasLongPath(changes) && urlInvalid('The new path of a file is too long. Choose a shorter path.'),
    occupied,
    isTargetInWorkflow && 'workflowUpdated',
  ]
}

const lookAtTransfers = async (
  deps: ChangeDeps,
  relocation: Relocation,
  ancestors: Ancestors,
  { conditions, deadline }: Requester,
) => {
  const { files, clock } = deps
  const { kind, site, path, target } = relocation
  const since = clock.wall()
  const found = await findTransfers(files, relocation)
  const { isFile, changes, source, states } = found
  // After the listing, so that the files of a restore that fails later are not taken along.
  refuse([(await isLocked(deps, site, [path, target])) && 'folderLocked'])
  const matching = isUnconditional(conditions) ? [] : states
  const refusal = refusalIn([refusalOf(conditions, source), changes.length === 0 && 'fileUnknown'])
  const seen = { relocation, ancestors, since, isFile, changes, matching, refusal }
  if (refusal) return seen
  const templates = target === path ? [] : templatesIn(site, changes)
  const absences = [...absencesAtTarget(relocation), ...noFileAt(site, ancestors.missing)]
  refuse(await refusalsOf(deps, relocation, found, templates.length > 0, absences))
  await checkTemplates(files, kind, templates, deadline.reserving(reserves.templates))
  return seen
}

const lookAtRelocation = async (
  deps: ChangeDeps,
  path: StoragePath,
  destination: Destination,
  requester: Requester,
): Promise<SeenRelocation> => {
  const { files } = deps
  const { site, isCaseSensitive } = requester
  const wanted = { site, path, ...wantedOf(path, destination) }
  const { relocation, ancestors } = await spellTarget(files, wanted, requester)
  const seen = await lookAtTransfers(deps, relocation, ancestors, requester)
  if (seen.changes.length > 0 || isCaseSensitive) return seen
  const found = await resolveParent(files, scopeOfSource(relocation.kind, requester), path)
  return found === path ? seen : lookAtRelocation(deps, found, destination, requester)
}

/** Renames, moves or copies a file or folder, all or nothing (S-51 to S-59). */
export const relocate = async (deps: ChangeDeps, path: StoragePath, destination: Destination, requester: Requester) => {
  requireBothEnds(path, destination, requester)
  const seen = await lookAtRelocation(deps, path, destination, requester)
  const again = async ({ relocation }: SeenRelocation) =>
    lookAtTransfers(deps, relocation, await ancestorsOfTarget(deps.files, relocation), requester)
  await change(deps, seen, planRelocation, requester, again)
}
