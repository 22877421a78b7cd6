import { randomUUID } from 'node:crypto'
import { inParallel } from '../../core/in-parallel.ts'
import { listAll } from '../../storage/many-objects.ts'
import { NotPlaced, type Restoration } from '../../storage/object-store.ts'
import { type Attempt, awaitKnown, awaitVersion, type Made } from './attempt.ts'
import { type Bucket, callsInFlight, marked, onlyOnto, unquote } from './bucket.ts'
import { sendCopy } from './copy.ts'
import { type Doomed, deleteAll } from './delete.ts'
import { findMarked, findObject, headObject, isAtOrBelow, listObjects } from './find.ts'
import { findVersion } from './versions.ts'

export const copyVersion = async (attempt: Attempt, { key, id }: Restoration): Promise<unknown> => {
  const { bucket, conditions } = attempt
  const expected = attempt.expected.get(key)
  const mustBeFree = conditions.absent.some((one) => isAtOrBelow(key, one))
  const [info, present] = await Promise.all([findVersion(bucket, key, id), findObject(bucket, key)])
  if (!info) throw new NotPlaced({ outcome: 'stale', key })
  if (present && mustBeFree) throw new NotPlaced({ outcome: 'occupied', key })
  const seen = expected ?? { version: present?.version }
  const mark = randomUUID()
  const goal = { Key: key, ...marked(info.contentType, mark), ...onlyOnto(seen) }
  const find = (late: Bucket) => findMarked(late, key, mark)
  const explain = async () => {
    if (expected) return new NotPlaced({ outcome: 'changed', key })
    const isTaken = mustBeFree && (await headObject(bucket, key))
    return new NotPlaced({ outcome: isTaken ? 'occupied' : 'stale', key })
  }
  const creation = { key, isNew: seen.version === undefined, find, explain }
  return awaitVersion(attempt, creation, sendCopy(bucket, { key, size: info.size, versionId: id }, goal))
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

// The first object that is missing or has other bytes. Another caller may have stored the same bytes, which does not
// count as a difference. A listing costs as much as a dozen HEAD requests.
const findMissing = async (bucket: Bucket, restorations: readonly Restoration[]): Promise<string | undefined> => {
  const left = restorations.length > callsInFlight ? await withoutListed(bucket, restorations) : restorations
  let missing: string | undefined
  await inParallel(left, callsInFlight, async ({ key, id, tag }) => {
    if (missing !== undefined) return
    const head = await headObject(bucket, key)
    if (head?.VersionId !== id && unquote(head?.ETag) !== tag) missing ??= key
  })
  return missing
}

export const uncover = async (attempt: Attempt, restorations: readonly Restoration[]): Promise<void> => {
  const markers = restorations.flatMap(({ key, hiddenBy = [] }) =>
    hiddenBy.map((versionId): Doomed => ({ kind: 'version', key, versionId })),
  )
  const results = restorations.map(({ key }): Made => ({ kind: 'uncovered', key }))
  await awaitKnown(attempt, results, deleteAll(attempt.bucket, markers))
  const missing = await findMissing(attempt.bucket, restorations)
  if (missing !== undefined) throw new NotPlaced({ outcome: 'stale', key: missing })
}
