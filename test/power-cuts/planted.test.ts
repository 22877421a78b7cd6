import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test } from '../support/test.ts'
import { provedSeed, tryCuts } from './cuts.ts'
import { beginRecording, noRecorder, projectFolder, type Recording } from './record.ts'
import type { Ignored } from './replay.ts'
import { runShortWorkload } from './workload.ts'

/** A bug that loses data in a power cut. The suite must find it. */
interface Planted {
  readonly bug: string
  readonly shows: RegExp
  /** Flushes that the disk ignores. This has the same effect as a service that does not flush. */
  readonly isIgnored?: Ignored
  readonly environment?: Readonly<Record<string, string>>
  readonly patch?: { readonly file: string; readonly from: string; readonly to: string }
}

/** The faults that a file or an upload with missing bytes causes. */
const bytesAreGone = /bytes|mixture|missing|status 500|an append to/
const changeIsGone = /another token|acknowledged|holds|entries|bytes|missing/

/** Flushes a file only after its row is on the disk. */
const flushLater = `setTimeout(() => open(pathOf(name), 'r+').then((late) => late.datasync().finally(() => late.close()), () => {}), 100)`

const plantedBugs: readonly Planted[] = [
  {
    bug: 'no flush of a blob',
    shows: bytesAreGone,
    isIgnored: (path, kind) => kind === 'file' && path.includes('/blobs/'),
  },
  { bug: 'no flush of a folder', shows: /UsageError|another token|missing/, isIgnored: (_, kind) => kind === 'folder' },
  { bug: 'no flush of the folder of the blobs', shows: bytesAreGone, isIgnored: (path) => path.endsWith('/blobs') },
  {
    bug: 'synchronous=NORMAL for every change',
    shows: changeIsGone,
    patch: {
      file: 'lib/machine/sqlite/change-queue.ts',
      from: `waitsForDisk ? 'FULL'`,
      to: `waitsForDisk ? 'NORMAL'`,
    },
  },
  { bug: 'FSYNC=off', shows: changeIsGone, environment: { FSYNC: 'off' } },
  {
    bug: 'the row of a file before its bytes',
    shows: bytesAreGone,
    patch: {
      file: 'lib/machine/objects/blobs.ts',
      from: 'await writeBlob(file, content, { durable })',
      to: `await writeBlob(file, content, { durable: false })\n${flushLater}`,
    },
  },
  {
    bug: 'the offset of an upload before its bytes',
    shows: bytesAreGone,
    patch: {
      file: 'lib/machine/objects/blobs.ts',
      from: 'return await writeBlob(file, content, { durable, start',
      to: `${flushLater}\nreturn await writeBlob(file, content, { durable: false, start`,
    },
  },
  {
    bug: 'the history entry outside of the transaction',
    shows: /"entries":|entries of/,
    patch: {
      file: 'lib/machine/tables/history.ts',
      from: 'insert(now(), site, type, subject, actor, requestId, details)',
      to: `const values = [now(), site, type, subject, actor, requestId, details]
           setImmediate(() => insert(...values))`,
    },
  },
]

const rooms = ['admin', 'client/src', 'functions', 'lib', 'local', 'server', 'package.json']

const plant = (folder: string, { patch }: Planted): string => {
  if (!patch) return projectFolder
  for (const room of rooms) cpSync(join(projectFolder, room), join(folder, room), { recursive: true })
  symlinkSync(join(projectFolder, 'node_modules'), join(folder, 'node_modules'))
  const file = join(folder, patch.file)
  const [before, after, ...more] = readFileSync(file, 'utf8').split(patch.from)
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`The bug no longer fits into ${patch.file}: find the new place of "${patch.from}"`)
  }
  writeFileSync(file, before + patch.to + after)
  return folder
}

/** Each round cuts the whole recording at other places. Most bugs show in the first round. */
const [mostRounds, cutsInRound] = [5, 30]

const findFault = async (recording: Recording, planted: Planted): Promise<string | undefined> => {
  for (let round = 0; round < mostRounds; round += 1) {
    const found = await tryCuts(recording, { cuts: { count: cutsInRound, seed: provedSeed + round }, ...planted })
    if (found) return found.fault
  }
  return undefined
}

test.skipIf(noRecorder).for(plantedBugs)(
  'simulated power cuts reveal the planted bug: $bug',
  { timeout: 300_000 },
  async (planted, { directory }) => {
    const recording = beginRecording({
      folder: join(directory, 'recording'),
      source: plant(join(directory, 'source'), planted),
      ...planted,
    })
    await runShortWorkload(recording)
    expect(await findFault(recording, planted)).toMatch(planted.shows)
  },
)
