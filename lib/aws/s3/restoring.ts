import { randomUUID } from 'node:crypto'
import { CopyObjectCommand } from '@aws-sdk/client-s3'
import { inParallel } from '../../core/in-parallel.ts'
import { type Expected, listAll, NotPlaced, type ObjectStore, type Restoration } from '../../storage/object-store.ts'
import { type Bucket, callsInFlight, copySource, longCall, unquote } from './bucket.ts'
import { type Doomed, deleteAll } from './deleting.ts'
import { headObject, listObjects } from './looking.ts'
import type { Writing } from './making.ts'
import { findVersion } from './versions.ts'

/** Such as `live/1001/`. */
const areaOf = ({ key }: Restoration): string => key.slice(0, key.indexOf('/', key.indexOf('/') + 1) + 1)

/** The innermost common folder in each area. */
const commonFolders = (restorations: readonly Restoration[]): readonly string[] =>
  [...Map.groupBy(restorations, areaOf).values()].map((some) => {
    const keys = some.map(({ key }) => key).sort()
    const [first = '', last = ''] = [keys[0], keys.at(-1)]
    let length = 0
    while (length < first.length && first[length] === last[length]) length += 1
    return first.slice(0, first.lastIndexOf('/', length - 1) + 1)
  })

// A listing costs as much as a dozen looks.
const fewObjects = callsInFlight

/** Those that a few listings of their folders do not show in that state. */
const notListed = async (
  store: Pick<ObjectStore, 'list'>,
  restorations: readonly Restoration[],
): Promise<readonly Restoration[]> => {
  const missing = new Map(restorations.map((one) => [one.key, one]))
  const mostSeen = 2 * restorations.length
  for (const folder of commonFolders(restorations)) {
    let seen = 0
    for await (const objects of listAll(store, folder)) {
      for (const { key, version } of objects) if (missing.get(key)?.tag === version) missing.delete(key)
      seen += objects.length
      if (seen >= mostSeen || missing.size === 0) break
    }
  }
  return [...missing.values()]
}

interface Attempt {
  readonly doing: Bucket
  // Remembers the objects that an undo has to hide again.
  readonly uncovering: (restorations: readonly Restoration[]) => void
  readonly writing: Writing
  readonly expected: ReadonlyMap<string, Expected>
  // As in `PlaceConditions`.
  readonly absent: readonly string[]
}

/** Brings objects back, in one attempt to place changes. */
export const createRestoring = ({ doing, uncovering, writing, expected, absent }: Attempt) => {
  const long = { ...doing.options, ...longCall }

  // The first one that is not there with those bytes. Somebody else may have put the same bytes there.
  const findMissing = async (restorations: readonly Restoration[]): Promise<string | undefined> => {
    const isMany = restorations.length > fewObjects
    const left = isMany ? await notListed({ list: (query) => listObjects(doing, query) }, restorations) : restorations
    let missing: string | undefined
    await inParallel(left, callsInFlight, async ({ key, id, tag }) => {
      if (missing !== undefined) return
      const head = await headObject(doing, key)
      if (head?.VersionId !== id && unquote(head?.ETag) !== tag) missing ??= key
    })
    return missing
  }

  const mustBeFree = (key: string): boolean =>
    absent.some((one) => one === key || (one.endsWith('/') && key.startsWith(one)))

  // Something was put there, or removed, between the look and the call.
  const findRace = async (key: string): Promise<NotPlaced> => {
    const isTaken = mustBeFree(key) && (await headObject(doing, key))
    return new NotPlaced({ outcome: isTaken ? 'occupied' : 'stale', key })
  }

  return {
    // Removes the markers of objects without a newer version. Errors: NotPlaced.
    async uncover(restorations: readonly Restoration[]): Promise<void> {
      const markers = restorations.flatMap(({ key, hiddenBy = [] }) =>
        hiddenBy.map((versionId): Doomed => ({ kind: 'version', key, versionId })),
      )
      // Also for those that were uncovered before a call failed.
      uncovering(restorations)
      await deleteAll(doing, markers)
      // Somebody else may have hidden or replaced them since.
      const missing = await findMissing(restorations)
      if (missing !== undefined) throw new NotPlaced({ outcome: 'stale', key: missing })
    },

    // Copies any other version, onto a free key or onto what was seen there. Errors: NotPlaced.
    async bringBack({ key, id: versionId }: Restoration): Promise<void> {
      const [info, present] = await Promise.all([findVersion(doing, key, versionId), headObject(doing, key)])
      if (!info) throw new NotPlaced({ outcome: 'stale', key })
      if (present && mustBeFree(key)) throw new NotPlaced({ outcome: 'occupied', key })
      const id = randomUUID()
      const command = {
        Bucket: doing.name,
        Key: key,
        CopySource: `${copySource(doing, key)}?versionId=${encodeURIComponent(versionId)}`,
        MetadataDirective: 'REPLACE' as const,
        ContentType: info.contentType,
        Metadata: { change: id },
      }
      const seen = expected.get(key) ?? { key, version: present && unquote(present.ETag) }
      try {
        await writing({ key, id, seen, ability: 'a copy onto nothing' }, async (conditions) => {
          const copied = await doing.once.send(new CopyObjectCommand({ ...command, ...conditions }), long)
          return { VersionId: copied.VersionId, ETag: copied.CopyObjectResult?.ETag }
        })
      } catch (error) {
        if (!(error instanceof NotPlaced) || expected.has(key)) throw error
        throw await findRace(key)
      }
    },
  }
}
