import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { removeDirectory } from '../support/directory.ts'
import { timesToTry } from '../support/each-call.ts'
import type { Cut } from './cuts.ts'
import { createRandom } from './random.ts'
import { beginRecording, noRecorder, readLog } from './record.ts'
import { createReplay } from './replay.ts'
import { contentsOf, makeScratch, provedSeed, test } from './scratch.ts'
import { tryCut, tryCuts } from './try-cuts.ts'
import { runWorkload } from './workload.ts'

/** Each recording has other changes in another order, and serves so many states at most. */
const mostOfRecording = 500

const states = Number(process.env['PROVE_COUNT'] ?? timesToTry(100))
const recordings = Math.ceil(states / mostOfRecording)

/** Of a failure: the folder of its recording, and the cut. */
const [failedIn = '', failedCut = '{}'] = (process.env['PROVE_PATH'] ?? '').split('#')

describe.skipIf(noRecorder)('a power cut', () => {
  test('is recorded in full: all that was recorded makes the very directory', { timeout: 120_000 }, async ({
    scratch,
  }) => {
    const recording = beginRecording({ folder: join(scratch, 'recording') })
    await runWorkload(recording)
    const entries = readLog(recording.log)
    const replay = createReplay(entries, recording.root)
    replay.advance(entries.length)
    replay.build(join(scratch, 'built'), { mode: 'strict', fate: 'kept', random: createRandom(provedSeed) })
    expect(contentsOf(join(scratch, 'built'))).toEqual(contentsOf(recording.root))
  })

  test.skipIf(failedIn !== '').for(Array.from({ length: recordings }, (_, number) => number))(
    'loses no acknowledged change and leaves none half done, wherever it comes (recording %i; O-20, S-47, U-19, H-9)',
    { timeout: 60_000 + mostOfRecording * 10_000 },
    async (number) => {
      // It stays when a state is at fault.
      const folder = makeScratch()
      const recording = beginRecording({ folder })
      await runWorkload(recording)
      const count = Math.min(mostOfRecording, states - number * mostOfRecording)
      const found = await tryCuts(recording, folder, { count, seed: provedSeed + number })
      if (found) {
        const again = `npm run prove -- power-cuts --path '${folder}#${JSON.stringify(found.cut)}'`
        throw new Error(`${found.fault}\n${again}`)
      }
      removeDirectory(folder)
    },
  )

  test.runIf(failedIn !== '')('is repeated as it was recorded', async ({ scratch }) => {
    const recorded = { root: join(failedIn, 'root'), log: join(failedIn, 'log') }
    const cut: Cut = JSON.parse(failedCut)
    expect(await tryCut(recorded, cut, join(scratch, 'state'))).toBeUndefined()
  })
})
