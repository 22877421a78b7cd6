import { inParallel } from '../../core/in-parallel.ts'
import { listAll } from '../../storage/many-objects.ts'
import { type Expected, NotPlaced, type Restoration } from '../../storage/object-store.ts'
import { awaitLateCalls, awaitVersion, type Made, type StepResult } from './attempt.ts'
import { type Bucket, callsInFlight, type StepBuckets, unquote } from './bucket.ts'
import { type Doomed, deleteAll, deleteState } from './delete.ts'
import { headObject, listObjects } from './find.ts'
import { listPage } from './versions.ts'

// `seen` is the state that the change has seen, or undefined if there was none. `version` is the only state to hide. If
// `version` is undefined, any state is hidden.
interface Hiding {
  readonly key: string
  readonly seen: string | undefined
  readonly version: string | undefined
  readonly expected: Expected | undefined
}

const findDeleteMarker = async (bucket: Bucket, key: string): Promise<string | undefined> => {
  const { states } = await listPage(bucket, { prefix: key, folded: false, after: undefined, limit: 10 })
  const [newest] = states.get(key) ?? []
  return newest?.kind === 'marker' ? newest.id : undefined
}

/**
 * Hides an object with a delete marker. Errors: NotPlaced, if the object is not in the expected state, or if the source
 * of a move was replaced or removed.
 */
export const hide = async (buckets: StepBuckets, { key, seen, version, expected }: Hiding): Promise<StepResult> => {
  const { doing, finding } = buckets
  const differs = () => new NotPlaced({ outcome: expected ? 'changed' : 'stale', key })
  const hidesAny = !expected && version === undefined
  if (!hidesAny && seen !== (expected ?? { version }).version) throw differs()
  if (seen === undefined) return { made: [] }
  const find = () => findDeleteMarker(finding, key)
  const call = deleteState(doing, doing.once, { key, tag: version })
  const explain = async () => (hidesAny ? undefined : differs())
  return awaitVersion(buckets, { key, isNew: false, find, explain }, call)
}

// The innermost common folder in each edition of each site, below a prefix such as `live/1001/`.
const commonFolders = (restorations: readonly Restoration[]): readonly string[] =>
  [...Map.groupBy(restorations, ({ key }) => key.split('/', 2).join('/')).values()].map((some) => {
    const keys = some.map(({ key }) => key).sort()
    const [first = '', last = ''] = [keys[0], keys.at(-1)]
    let length = 0
    while (length < first.length && first[length] === last[length]) length += 1
    return first.slice(0, first.lastIndexOf('/', length - 1) + 1)
  })

const withoutListed = async (bucket: Bucket, restorations: readonly Restoration[]): Promise<readonly Restoration[]> => {
  const missing = new Map(restorations.map((one) => [one.key, one]))
  const mostSeen = 2 * restorations.length
  for (const folder of commonFolders(restorations)) {
    let seen = 0
    for await (const objects of listAll({ list: (query) => listObjects(bucket, query) }, folder)) {
      for (const { key, version } of objects) if (missing.get(key)?.tag === version) missing.delete(key)
      seen += objects.length
      if (seen >= mostSeen || missing.size === 0) break
    }
  }
  return [...missing.values()]
}

// A listing costs as much as a dozen HEAD requests.
const fewObjects = callsInFlight

// The first object that is missing or has other bytes. Another caller may have stored the same bytes, which does not
// count as a difference.
const findMissing = async (bucket: Bucket, restorations: readonly Restoration[]): Promise<string | undefined> => {
  const left = restorations.length > fewObjects ? await withoutListed(bucket, restorations) : restorations
  let missing: string | undefined
  await inParallel(left, callsInFlight, async ({ key, id, tag }) => {
    if (missing !== undefined) return
    const head = await headObject(bucket, key)
    if (head?.VersionId !== id && unquote(head?.ETag) !== tag) missing ??= key
  })
  return missing
}

export const uncover = async ({ doing }: StepBuckets, restorations: readonly Restoration[]): Promise<StepResult> => {
  const markers = restorations.flatMap(({ key, hiddenBy = [] }) =>
    hiddenBy.map((versionId): Doomed => ({ kind: 'version', key, versionId })),
  )
  // Some objects may be visible again even if a call fails, so the attempt gets all of them.
  const made = restorations.map(({ key, id }): Made => ({ kind: 'uncovered', key, versionId: id }))
  try {
    await deleteAll(doing, markers)
    const missing = await findMissing(doing, restorations)
    return missing === undefined ? { made } : { made, failure: new NotPlaced({ outcome: 'stale', key: missing }) }
  } catch (failure) {
    await awaitLateCalls(doing)
    return { made, failure }
  }
}
