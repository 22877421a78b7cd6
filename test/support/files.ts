import { join } from 'node:path'
import { createStorageHandler } from '../../functions/storage/group.ts'
import { systemClock } from '../../lib/core/time.ts'
import { openMachine } from '../../lib/machine/machine.ts'
import { createStorageDeps, type Downloads, type FileStores, type Surroundings } from '../../lib/service/deps.ts'
import type { Stores } from '../../lib/service/stores.ts'
import type { RemovalMessage } from '../../lib/storage/continue-removal.ts'
import type { RemovalQueue } from '../../lib/storage/path-locks.ts'
import type { UsageCounts } from '../../lib/storage/quota.ts'
import type { LeaseTerms } from '../../lib/storage/uploads/uploads.ts'
import { createLinkTo } from '../../local/downloads.ts'
import { makeDirectory, removeDirectory } from './directory.ts'
import { keptContents } from './kept-contents.ts'

type StorageStores = FileStores &
  Pick<Stores, 'sites' | 'grants' | 'people' | 'usage'> & { readonly counts?: UsageCounts }

/** Replaces stores of the operations, for example by stores that fail or record calls. */
export type Between = (stores: StorageStores) => Partial<StorageStores>

interface Options extends Partial<Surroundings> {
  readonly between?: Between
  readonly downloads?: Downloads
  readonly lease?: LeaseTerms
}

const settings = {
  dataCentre: 'us',
  largestFile: 4 * 1024 * 1024,
  largestResumableFile: 32 * 1024 * 1024,
  reservedFolders: ['Templates'],
}

export const openTestFiles = async ({
  between = () => ({}),
  telemetry = { request: () => {} },
  ...surroundings
}: Options = {}) => {
  const folder = makeDirectory()
  const { clock = systemClock } = surroundings
  const machine = await openMachine(join(folder, 'data'), { role: 'service', durable: false, clock })
  const sent: (RemovalMessage & { readonly delay: number })[] = []
  const removalQueue: RemovalQueue = {
    async send(task, delay) {
      const name = String(sent.length + 1)
      sent.push({ task, name, delay })
      return name
    },
  }
  const recording: StorageStores = { ...machine.stores, removalQueue }
  const stores: StorageStores = { ...recording, ...between(recording) }
  const linkTo = createLinkTo(machine.stores.linkSecret, clock)
  const deps = createStorageDeps(settings, stores, { telemetry, linkTo, ...surroundings })
  return {
    handler: createStorageHandler(deps),
    deps,
    stores,
    /** The messages to the queue of removals, which has no worker here. Delays are in seconds. */
    sent,
    linkSecret: machine.stores.linkSecret,
    leftovers: () => keptContents(machine.directory).leftovers.length,
    async close() {
      await machine.close()
      removeDirectory(folder)
    },
  }
}
