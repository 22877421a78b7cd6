import { ServiceError } from '../../../lib/core/errors.ts'
import { aroundCalls } from '../../support/around-calls.ts'
import type { Between } from '../../support/files.ts'

/** Makes one call fail, as if its store were busy for a moment. */
export const createFault = () => {
  let calls = 0
  let failing = 0
  const counted = <Port extends object>(port: Port): Port =>
    aroundCalls(port, (call) => {
      calls += 1
      return calls === failing ? Promise.reject(new ServiceError('unavailable')) : call()
    })
  return {
    between: (({ files, workflows, removals, removalQueue }) => ({
      files: counted(files),
      workflows: counted(workflows),
      removals: counted(removals),
      removalQueue: counted(removalQueue),
    })) satisfies Between,
    /** The call with this number fails, counted from 1. */
    arm(number: number) {
      calls = 0
      failing = number
    },
    get calls() {
      return calls
    },
  }
}
