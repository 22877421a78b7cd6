import fc from 'fast-check'
import { expect, test } from 'vitest'
import { errors, ServiceError } from '../../../lib/core/errors.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { StorageDeps } from '../../../lib/service/deps.ts'
import { root } from '../../../lib/storage/path.ts'
import type { Addition, Upload, UploadRecords } from '../../../lib/storage/uploads/upload.ts'
import { aroundCalls } from '../../support/around-calls.ts'
import { timesToTry } from '../../support/each-call.ts'
import { inPieces } from '../../support/in-pieces.ts'
import { bytesIn } from '../../support/objects.ts'
import { uploadsOf } from '../../support/uploads.ts'
import { createFault, Death } from '../storage/failing-stores.ts'
import { storageHands } from '../storage/hands.ts'

/** Processes die at any call. Acknowledged bytes stay, and a file equals the sent one or does not exist. */
const site = 1001 as SiteId

/** The number of sequences of requests. The stores of AWS in memory are slower. */
const runs = (name: string): number => timesToTry(name === 'AWS' ? 25 : 150)

/** In milliseconds. A process starts when the lease of the dead process has ended. */
const [leaseTime, pause] = [33_000, 40_000]

/** The service in a new process, which knows only the stores. */
const serve = (deps: StorageDeps, diesAfter = Number.POSITIVE_INFINITY) => {
  const fault = createFault()
  fault.dieAfter(diesAfter)
  // Reads of content run inside other calls, so they are not counted.
  const within = <Port extends object>(port: Port): Port =>
    aroundCalls(port, fault.run, ['read', 'removedWithin', 'claim'])
  const claim: UploadRecords['claim'] = (...given) => {
    const made = deps.uploadRecords.claim(...given)
    return made && within(made)
  }
  const [files, uploadParts] = [within(deps.files), within(deps.uploadParts)]
  const uploadRecords = { ...within(deps.uploadRecords), claim }
  return {
    uploads: uploadsOf({ ...deps, files, uploadRecords, uploadParts, lease: { lasts: leaseTime } }),
    content: (name: string) => bytesIn(deps.files, `live/${site}/${name}`),
  }
}

type Start = (diesAfter?: number) => ReturnType<typeof serve>

interface Action {
  readonly kind: 'append' | 'twice' | 'broken' | 'garbled' | 'behind' | 'ahead' | 'look'
  readonly size: number
  readonly cut: number
}

const action: fc.Arbitrary<Action> = fc.record({
  kind: fc.constantFrom('append', 'append', 'twice', 'broken', 'garbled', 'behind', 'ahead', 'look'),
  size: fc.integer({ min: 1, max: 60 }),
  cut: fc.integer({ min: 1, max: 20 }),
})

const incomplete = new ServiceError('storageRefused', { message: 'The request body is incomplete. Send it again.' })

/** Codes of refusals. A refusal with such a code loses no bytes of an upload. */
const clean: readonly number[] = [
  errors.offsetMismatch.code,
  errors.uploadLocked.code,
  errors.chunkMismatch.code,
  errors.uploadTooLarge.code,
  errors.unavailable.code,
  errors.storageRefused.code,
]

/** The upload replaces no file. If it has placed its file before a crash, this file must not count as an obstacle. */
const ontoNothing = { fileType: undefined, version: undefined, ifMatch: undefined, ifNoneMatch: '*' }

const garbage = Buffer.alloc(60, '!')

/** The appends that an action makes, at the offset that the caller knows. */
const additionsOf = ({ kind, size, cut }: Action, content: Buffer, offset: number): readonly Addition[] => {
  const bytes = content.subarray(offset, offset + size)
  const right = { offset, content: inPieces(bytes, cut, kind === 'broken' ? incomplete : undefined) }
  const junk = (at: number): Addition => ({ offset: at, content: inPieces(garbage.subarray(0, size), cut) })
  const more: Readonly<Record<Action['kind'], readonly Addition[]>> = {
    append: [right],
    broken: [right],
    twice: [right, { offset, content: inPieces(content.subarray(offset, offset + cut), cut) }],
    garbled: [{ ...junk(offset), checksum: { algorithm: 'md5', value: Buffer.alloc(16) } }],
    behind: offset > 0 ? [junk(offset - 1)] : [],
    ahead: [junk(offset + 1)],
    look: [],
  }
  return more[kind]
}

/** A caller of one upload. The service is killed again and again, after these numbers of calls. */
const callerOf = (start: Start, id: string, deaths: readonly number[]) => {
  const left = [...deaths]
  const startNext = () => start(left.shift())
  let service = startNext()
  let acknowledged = 0

  /** Expects a death, a clean refusal or a success. Returns the upload of a success. */
  const survive = async (calls: readonly Promise<Upload>[]): Promise<Upload | undefined> => {
    const settled = await Promise.allSettled(calls)
    const failures = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    if (failures.some((error) => error instanceof Death)) service = startNext()
    const other = failures.find(
      (error) => !(error instanceof Death || (error instanceof ServiceError && clean.includes(error.code))),
    )
    if (other) throw other
    const [found] = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    acknowledged = Math.max(acknowledged, found?.offset ?? 0)
    return found
  }

  return {
    async look(): Promise<Upload | undefined> {
      const before = acknowledged
      const found = await survive([service.uploads.find(id)])
      if (found) expect(found.offset).toBeGreaterThanOrEqual(before)
      return found
    },
    send: (additions: readonly Addition[]) =>
      survive(additions.map((addition) => service.uploads.append(id, addition))),
    content: (path: string) => service.content(path),
  }
}

/** Repeats until the file is placed, however often the process dies. */
const finish = async ({ look, send, content: read }: ReturnType<typeof callerOf>, name: string, content: Buffer) => {
  for (let attempt = 0; attempt < 20; attempt++) {
    const found = await look()
    if (found?.isComplete) return
    if (!found) continue
    expect(await read(name)).toBeUndefined()
    const { offset } = found
    const rest = content.subarray(offset)
    await send([{ offset, length: content.length, declared: rest.length, content: inPieces(rest, 50) }])
  }
}

let count = 0

test.each(storageHands)('In any order of requests, the bytes are right: $name (U-19)', async ({ name: hand, open }) => {
  let past = 0
  const clock = { wall: () => Date.now() + past, monotonic: () => performance.now() + past }
  const { deps } = await open({ clock })
  const start: Start = (diesAfter) => {
    past += pause
    return serve(deps, diesAfter)
  }
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 0, maxLength: 200 }),
      fc.boolean(),
      fc.array(action, { maxLength: 12 }),
      fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 6 }),
      async (bytes, defers, actions, deaths) => {
        count += 1
        const name = `file-${count}.bin`
        const content = Buffer.from(bytes)
        const { uploads } = start()
        const request = { ...ontoNothing, folder: root, fileName: name }
        const length = defers ? null : content.length
        const { id } = await uploads.create({ request, length, metadata: '' })
        const caller = callerOf(start, id, deaths)
        for (const one of actions) {
          const found = await caller.look()
          if (found) await caller.send(additionsOf(one, content, found.offset))
        }
        await finish(caller, name, content)
        const last = start()
        expect(await last.uploads.find(id)).toMatchObject({ isComplete: true, offset: content.length })
        expect(await last.content(name)).toEqual(content)
      },
    ),
    { numRuns: runs(hand) },
  )
})
