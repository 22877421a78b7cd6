import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeDirectory, removeDirectory } from '../support/directory.ts'
import { timesToTry } from '../support/each-call.ts'
import { provedSeed, tryCuts } from './cuts.ts'
import { createRandom } from './outage.ts'
import { beginRecording, noRecorder, type Recording, readLog } from './record.ts'
import { createReplay } from './replay.ts'
import { runWorkload } from './workload.ts'

/** Each recording has different changes in a different order, and is used for a limited number of states. */
const mostOfRecording = 500

const states = Number(process.env['PROVE_COUNT'] ?? timesToTry(100))

/** A failure names the folder of its recording, and the cut. */
const [failedIn = '', failedCut = '{}'] = (process.env['PROVE_PATH'] ?? '').split('#')

/** The recorder is complete: its records rebuild the same directory. */
const expectFullRecord = ({ log, root }: Recording, built: string) => {
  const entries = readLog(log)
  const replay = createReplay(entries, root)
  replay.advance(entries.length)
  replay.build(built, { mode: 'strict', fate: 'kept', random: createRandom(provedSeed) })
  const differences = spawnSync('diff', ['--recursive', '--exclude=*-shm', root, built], { encoding: 'utf8' })
  expect(differences).toMatchObject({ status: 0, stdout: '' })
  removeDirectory(built)
}

test
  .skipIf(noRecorder || failedIn !== '')
  .for(Array.from({ length: Math.ceil(states / mostOfRecording) }, (_, number) => number))(
  'a power cut keeps confirmed changes (O-20, S-47, U-19, H-9): recording %i',
  { timeout: 60_000 + mostOfRecording * 10_000 },
  async (number) => {
    // The recording is kept if a state has a fault.
    const folder = makeDirectory()
    const recording = beginRecording({ folder })
    await runWorkload(recording)
    expectFullRecord(recording, join(folder, 'built'))
    const count = Math.min(mostOfRecording, states - number * mostOfRecording)
    const found = await tryCuts(recording, { cuts: { count, seed: provedSeed + number } })
    if (found) {
      const again = `npm run prove -- power-cuts --path '${folder}#${JSON.stringify(found.cut)}'`
      throw new Error(`${found.fault}\n${again}`)
    }
    removeDirectory(folder)
  },
)

test.runIf(!noRecorder && failedIn !== '')('one power cut can be repeated with --path', async () => {
  const recorded = { root: join(failedIn, 'root'), log: join(failedIn, 'log') }
  expect(await tryCuts(recorded, { cuts: JSON.parse(failedCut) })).toBeUndefined()
})
