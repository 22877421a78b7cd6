import { describe } from 'vitest'
import { describeListing } from './object-store/listing.ts'
import { describeMatching } from './object-store/matching.ts'
import { describePlacing } from './object-store/placing.ts'
import { describeRacing } from './object-store/racing.ts'
import { describeRelocating } from './object-store/relocating.ts'
import { describeRemoving } from './object-store/removing.ts'
import { describeRestoring } from './object-store/restoring.ts'
import { describeStaging } from './object-store/staging.ts'
import { type OpenedStore, openWorkbench } from './object-store/workbench.ts'

/** The cases of every object store. A store that is not large gets no content of many MiB. */
export const describeObjectStore = (name: string, open: () => Promise<OpenedStore>, isLarge = true): void => {
  describe(name, () => {
    const bench = openWorkbench(open)
    describeStaging(bench, isLarge)
    describePlacing(bench)
    describeRacing(bench)
    describeMatching(bench, isLarge)
    describeRelocating(bench)
    describeListing(bench)
    describeRemoving(bench)
    describeRestoring(bench)
  })
}

/** The cases of moves, copies and restored versions, because a store may copy in another way than it writes. */
export const describeCopies = (name: string, open: () => Promise<OpenedStore>): void => {
  describe(name, () => {
    const bench = openWorkbench(open)
    describeRacing(bench)
    describeRelocating(bench)
    describeRestoring(bench)
  })
}
