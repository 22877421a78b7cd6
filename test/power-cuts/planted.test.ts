import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../support/test.ts'
import { plant, plantedBugs } from './planted.ts'
import { beginRecording, noRecorder } from './record.ts'
import { provedSeed, tryCuts } from './try-cuts.ts'
import { runShortWorkload } from './workload.ts'

/** States in which each bug has to show. */
const most = 150

describe.skipIf(noRecorder)('power cuts find a bug that was planted', () => {
  test.for(plantedBugs)('$bug', { timeout: 300_000 }, async (planted, { directory }) => {
    const recording = beginRecording({
      folder: join(directory, 'recording'),
      source: plant(join(directory, 'source'), planted),
      ...planted,
    })
    await runShortWorkload(recording)
    const found = await tryCuts(recording, directory, { cuts: { count: most, seed: provedSeed }, ...planted })
    expect(found?.fault).toMatch(planted.shows)
  })
})
