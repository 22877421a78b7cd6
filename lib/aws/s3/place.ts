import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { compareText } from '../../core/names.ts'
import { unlimited } from '../../core/time.ts'
import { type Change, type Expected, NotPlaced, type PlaceConditions, type Staged } from '../../storage/object-store.ts'
import type { FolderLocks } from '../../storage/path-locks.ts'
import type { ObservedRemovals } from '../dynamodb/folder-removals.ts'
import { type Attempt, createAttempt, undoResults } from './attempt.ts'
import { type Bucket, callsInFlight } from './bucket.ts'
import { findObject, findRival } from './find.ts'
import { isScratch, type StagedBody } from './stage.ts'
import { copyObject, copyVersion, createFolder, hide, type PutGoal, putBody, uncover } from './steps.ts'

export interface PlaceDeps {
  readonly bucket: Bucket
  readonly removals: Pick<ObservedRemovals, 'locksOf' | 'begin' | 'note' | 'cancel'>
  readonly bodyOf: (staged: Staged) => StagedBody
  readonly now: () => number
}

const findChanged = async (bucket: Bucket, expected: readonly Expected[]): Promise<string | undefined> => {
  const found = await Promise.all(expected.map(({ key }) => findObject(bucket, key)))
  return expected.find(({ version }, index) => found[index]?.version !== version)?.key
}

// Returns the locks of the folders. The lock of the caller does not block the caller. Errors: NotPlaced.
const checkBefore = async (
  bucket: Bucket,
  { absent, matching = [], unlocked }: PlaceConditions,
  looking: Promise<FolderLocks>,
): Promise<FolderLocks['ids']> => {
  const [locks, rival, changed] = await Promise.all([looking, findRival(bucket, absent), findChanged(bucket, matching)])
  if (locks.open.some(({ id }) => id !== unlocked.lockId)) throw new NotPlaced({ outcome: 'locked' })
  if (changed !== undefined) throw new NotPlaced({ outcome: 'changed', key: changed })
  if (rival !== undefined) throw new NotPlaced({ outcome: 'occupied', key: rival })
  return locks.ids
}

const changesKey = (change: Change, key: string): boolean =>
  change.key === key || (change.kind === 'move' && change.from.key === key)

const isAtOrBelow = (key: string, other: string): boolean =>
  key === other || (other.endsWith('/') && key.startsWith(other))

// In milliseconds. After this time, the caller that created a folder has checked the names above it.
const newFor = 120_000

// If two requests did not find each other in the first look, at least one of them finds the other now. Errors:
// NotPlaced.
const checkAfter = async (
  bucket: Bucket,
  { absent, present = [], absentIfNew = [], matching = [] }: PlaceConditions,
  changes: readonly Change[],
  { seen, looking }: { readonly seen: FolderLocks['ids']; readonly looking: Promise<FolderLocks> },
  now: number,
): Promise<void> => {
  const others = absent.filter((one) => !changes.some(({ key }) => isAtOrBelow(key, one)))
  // The other keys need no check: the calls that changed them compared their states.
  const unchanged = matching.filter(({ key }) => !changes.some((change) => changesKey(change, key)))
  const [locks, rival, there, changed] = await Promise.all([
    looking,
    findRival(bucket, others),
    Promise.all(present.map((key) => findObject(bucket, key))),
    findChanged(bucket, unchanged),
  ])
  const gone = present.find((_, index) => !there[index])
  if (changed !== undefined) throw new NotPlaced({ outcome: 'changed', key: changed })
  // A removal that has begun since the first look may have removed the new files, even if it has ended.
  if ([...locks.ids].some((id) => !seen.has(id))) throw new NotPlaced({ outcome: 'locked' })
  if (rival !== undefined) throw new NotPlaced({ outcome: 'occupied', key: rival })
  if (gone !== undefined) throw new NotPlaced({ outcome: 'stale', key: gone })
  const isNew = there.some((folder) => folder && folder.modified > now - newFor)
  const above = isNew ? await findRival(bucket, absentIfNew) : undefined
  if (above !== undefined) throw new NotPlaced({ outcome: 'occupied', key: above })
}

interface Run extends Pick<PlaceDeps, 'bodyOf'> {
  readonly attempt: Attempt
  readonly absent: readonly string[]
  readonly expected: ReadonlyMap<string, Expected>
  readonly tags: Map<string, string | undefined>
}

const tagOf = async ({ attempt, tags }: Run, key: string): Promise<string | undefined> => {
  if (!tags.has(key)) tags.set(key, (await findObject(attempt.bucket, key))?.version)
  return tags.get(key)
}

const put = async ({ bucket, collect }: Attempt, write: PutGoal, body: StagedBody): Promise<unknown> => {
  const { content } = body
  if (content.kind !== 'upload' || content.key === write.key) return collect(putBody(bucket, write, body))
  if (!isScratch(content.key)) throw new Error('These bytes were staged for another place')
  const scratch = await collect(putBody(bucket, { key: content.key, expected: undefined }, body))
  await collect(putBody(bucket, write, { ...body, content: { kind: 'object', key: content.key } }))
  return undoResults(bucket, scratch)
}

// A removal only looks for its object here. After all other changes are made, `takeAway` hides the object.
const create = async (run: Run, change: Change): Promise<unknown> => {
  const { attempt, absent, expected, bodyOf } = run
  const { bucket, collect } = attempt
  const { kind, key } = change
  const write = { key, expected: expected.get(key) }
  if (kind === 'remove') return tagOf(run, key)
  if (kind === 'put') return put(attempt, write, bodyOf(change.staged))
  if (kind === 'folder') return collect(createFolder(bucket, write))
  if (kind !== 'restore') return collect(copyObject(bucket, change))
  if (change.hiddenBy) return undefined
  const mustBeFree = absent.some((one) => isAtOrBelow(key, one))
  return collect(copyVersion(bucket, change, { ...write, mustBeFree }))
}

const removedBy = (change: Change) => {
  if (change.kind === 'move') return change.from
  return change.kind === 'remove' ? { key: change.key, version: undefined } : undefined
}

const takeAway = async (run: Run, change: Change): Promise<unknown> => {
  const { attempt, expected } = run
  const removed = removedBy(change)
  if (!removed) return undefined
  const { key, version } = removed
  const state = expected.get(key)
  const only = state ?? (version === undefined ? undefined : { version })
  return attempt.collect(hide(attempt.bucket, { key, seen: await tagOf(run, key) }, only, state ? 'changed' : 'stale'))
}

// Changes that expect a state come first, one by one. If several requests expect the same state, one of them succeeds,
// and the others have not yet made anything that must be undone.
const inTurn = async (
  run: Run,
  changes: readonly Change[],
  isExpecting: (change: Change) => boolean,
  work: typeof create,
) => {
  const make = async (change: Change) => {
    if (run.attempt.deadline.isOver()) throw new NotPlaced({ outcome: 'late' })
    await work(run, change)
  }
  const others = changes.filter((change) => !isExpecting(change))
  await inParallel(changes.filter(isExpecting), 1, make)
  await inParallel(others, callsInFlight, make)
}

const apply = async (run: Run, changes: readonly Change[]): Promise<void> => {
  const { attempt, expected } = run
  const covered = changes.filter((change) => change.kind === 'restore').filter(({ hiddenBy }) => hiddenBy)
  await attempt.collect(uncover(attempt.bucket, covered))
  const sorted = changes.toSorted((one, other) => compareText(one.key, other.key))
  await inTurn(run, sorted, ({ kind, key }) => kind === 'put' && expected.has(key), create)
  // Without versions, the source of a move could not be restored, so it is not removed.
  const isVersioned = attempt.made.every(({ kind }) => kind !== 'object' && kind !== 'final')
  if (!isVersioned && changes.some(({ kind }) => kind === 'move')) throw new ServiceError('unavailable')
  await inTurn(run, changes, (change) => expected.has(removedBy(change)?.key ?? change.key), takeAway)
}

export const claimIn = (changes: readonly Change[]) =>
  changes.map((change) => (change.kind === 'put' ? change.staged.claim : undefined)).find((claim) => claim)

// If the claim is lost, another request may have accepted the changes that this request has placed. Errors:
// unavailable.
const requireClaim = async ({ made, undoDeadline }: Attempt, changes: readonly Change[], cause: unknown) => {
  const claim = made.length > 0 ? claimIn(changes) : undefined
  if (!claim || (await undoDeadline.wait(claim.isHeld()).catch(() => false))) return
  throw new ServiceError('unavailable', { cause })
}

/**
 * Implements `ObjectStore.place`. Also returns whether anything has changed. A folder that existed before does not
 * count as a change.
 */
export const place = async (
  { bucket: opened, removals, bodyOf, now }: PlaceDeps,
  changes: readonly Change[],
  conditions: PlaceConditions,
) => {
  const { absent, matching = [], unlocked, deadline: given = unlimited, removedFolder } = conditions
  using attempt = createAttempt(opened, changes, given)
  const { deadline, undoDeadline, made, bucket } = attempt
  const expected = new Map(matching.map((one) => [one.key, one]))
  let begun: PlaceConditions['removedFolder']
  try {
    const look = () => deadline.wait(removals.locksOf(unlocked.site, unlocked.folders))
    const seen = unlocked.seen ?? (await checkBefore(bucket, conditions, look()))
    begun = removedFolder && (await deadline.wait(removals.begin(removedFolder, given)))
    await apply({ attempt, bodyOf, absent, expected, tags: new Map() }, changes)
    await checkAfter(bucket, conditions, changes, { seen, looking: look() }, now())
    if (begun) await deadline.wait(removals.note(begun)).catch(() => {})
  } catch (error) {
    await requireClaim(attempt, changes, error)
    const isCut = deadline.signal.aborted && !(error instanceof NotPlaced)
    const cause = isCut ? new NotPlaced({ outcome: 'late' }) : error
    const failure = await attempt.undo(cause)
    // If this removal continues an earlier removal, the record of the earlier removal stays.
    if (begun && removedFolder && failure === cause)
      await undoDeadline.wait(removals.cancel(removedFolder)).catch(() => {})
    if (failure instanceof NotPlaced) return { result: failure.outcome, hasChanged: false }
    throw failure
  }
  const hasChanged = made.length > 0 || changes.some(({ kind }) => kind !== 'folder')
  return { result: { outcome: 'placed' } as const, hasChanged }
}
