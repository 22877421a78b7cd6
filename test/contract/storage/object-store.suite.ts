import { describe } from 'vitest'
import { describeCopying } from './object-store/copying.ts'
import { describeFingerprints } from './object-store/fingerprints.ts'
import { describeListing } from './object-store/listing.ts'
import { describeMatching } from './object-store/matching.ts'
import { describeMoving } from './object-store/moving.ts'
import { describePlacing } from './object-store/placing.ts'
import { describeRacing } from './object-store/racing.ts'
import { describeRemoving } from './object-store/removing.ts'
import { describeStaging } from './object-store/staging.ts'
import { describeVersions } from './object-store/versions.ts'
import { type OpenedStore, openWorkbench } from './object-store/workbench.ts'

/** What every object store does, whatever it is made of. One that is not large keeps no content of many MiB. */
export const describeObjectStore = (name: string, open: () => Promise<OpenedStore>, isLarge = true): void => {
  describe(name, () => {
    const bench = openWorkbench(open)
    describeStaging(bench, isLarge)
    describeFingerprints(bench, isLarge)
    describePlacing(bench)
    describeRacing(bench)
    describeMatching(bench, isLarge)
    describeMoving(bench)
    describeCopying(bench)
    describeListing(bench)
    describeRemoving(bench)
    describeVersions(bench)
  })
}
