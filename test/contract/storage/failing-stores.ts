import { ServiceError } from '../../../lib/core/errors.ts'
import { aroundCalls } from '../../support/around-calls.ts'
import type { Between } from '../../support/files.ts'

/** The process has died. From then on it reaches no store. */
export class Death extends Error {}

/** Makes one call fail, as if its store were busy for a moment, or lets the process die after a call. */
export const createFault = () => {
  let calls = 0
  let faulty = 0
  let isDeadly = false
  const run = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    calls += 1
    const number = calls
    if (isDeadly && number > faulty) throw new Death()
    if (!isDeadly && number === faulty) throw new ServiceError('unavailable')
    const result = await call()
    if (isDeadly && number === faulty) throw new Death()
    return result
  }
  const set = (number: number, deadly: boolean): void => {
    calls = 0
    faulty = number
    isDeadly = deadly
  }
  return {
    run,
    between: (({ files, workflows, removals, removalQueue }) => ({
      files: aroundCalls(files, run),
      workflows: aroundCalls(workflows, run),
      removals: aroundCalls(removals, run),
      removalQueue: aroundCalls(removalQueue, run),
    })) satisfies Between,
    /** The call with this number fails, counted from 1. With 0, no call fails. */
    arm: (number: number) => set(number, false),
    /** The process dies after the call with this number. With 0, it dies before its first call. */
    dieAfter: (number: number) => set(number, true),
    get calls() {
      return calls
    },
  }
}

export type Fault = ReturnType<typeof createFault>
