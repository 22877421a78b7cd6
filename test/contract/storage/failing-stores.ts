import { ServiceError } from '../../../lib/core/errors.ts'
import type { Between } from '../../support/files.ts'

/** The ways in which a store fails: it is busy for a moment, or its disk is full. */
export const failures = {
  busy: { failure: () => new ServiceError('unavailable'), status: 503 },
  full: { failure: () => new ServiceError('outOfSpace'), status: 507 },
} as const

/** Makes the call with this number fail, counted from 1. With 0, no call fails. */
export const createFault = () => {
  let calls = 0
  let failing = 0
  let failure: () => Error = failures.busy.failure
  const counted =
    <Input extends readonly unknown[], Output>(call: (...input: Input) => Promise<Output>) =>
    async (...input: Input): Promise<Output> => {
      calls += 1
      if (calls === failing) throw failure()
      return call(...input)
    }
  return {
    between: (({ files, workflows, removals, removalQueue }) => ({
      files: {
        find: counted(files.find),
        read: counted(files.read),
        exists: counted(files.exists),
        list: counted(files.list),
        fingerprintOf: counted(files.fingerprintOf),
        stage: counted(files.stage),
        place: counted(files.place),
        remove: counted(files.remove),
        versions: counted(files.versions),
        readVersion: counted(files.readVersion),
        purge: counted(files.purge),
        listRemoved: counted(files.listRemoved),
        keptBelow: counted(files.keptBelow),
        removedWithin: files.removedWithin,
      },
      workflows: {
        ...workflows,
        isRunning: counted(workflows.isRunning),
        isRunningBelow: counted(workflows.isRunningBelow),
      },
      removals: {
        open: counted(removals.open),
        take: counted(removals.take),
        giveBack: counted(removals.giveBack),
        close: counted(removals.close),
        lock: counted(removals.lock),
        unlock: counted(removals.unlock),
        note: counted(removals.note),
        lastOf: counted(removals.lastOf),
        openOf: counted(removals.openOf),
        locksOf: counted(removals.locksOf),
        isOpenBelow: counted(removals.isOpenBelow),
      },
      removalQueue: { send: counted(removalQueue.send) },
    })) satisfies Between,
    arm(number: number, kind: () => Error = failures.busy.failure) {
      calls = 0
      failing = number
      failure = kind
    },
    get calls() {
      return calls
    },
  }
}
