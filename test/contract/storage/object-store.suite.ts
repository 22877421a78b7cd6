import { describe } from 'vitest'
import { describeConditions } from './object-store/conditions.ts'
import { describeCopying } from './object-store/copying.ts'
import { describeListing } from './object-store/listing.ts'
import { describePlacing } from './object-store/placing.ts'
import { describeStaging } from './object-store/staging.ts'
import { type OpenedStore, openWorkbench } from './object-store/workbench.ts'

/** The cases of every object store. A store that is not large gets no content of many MiB. */
export const describeObjectStore = (name: string, open: () => Promise<OpenedStore>, isLarge = true): void => {
  describe(name, () => {
    const bench = openWorkbench(open)
    describeStaging(bench, isLarge)
    describePlacing(bench)
    describeConditions(bench, isLarge)
    describeCopying(bench)
    describeListing(bench)
  })
}

/** The cases of moves, copies and restored versions, because a store may copy in another way than it writes. */
export const describeCopies = (name: string, open: () => Promise<OpenedStore>): void => {
  describe(name, () => describeCopying(openWorkbench(open)))
}
