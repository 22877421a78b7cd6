import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { aroundCalls } from '../../support/around-calls.ts'

/** Acts right before a change of files is made, after every check. It can also refuse the change with an error. */
export const interruptChanges = (files: ObjectStore) => {
  type Act = () => unknown
  let act: Act | undefined
  let isRepeated = false
  const interrupt = async (): Promise<void> => {
    const other = act
    // The changes of the act itself are not interrupted.
    act = undefined
    try {
      await other?.()
    } finally {
      if (isRepeated) act = other
    }
  }
  const set = (next: Act | undefined, repeats: boolean): void => {
    act = next
    isRepeated = repeats
  }
  const { place, remove, purge } = files
  Object.assign(files, { ...aroundCalls({ place, remove, purge }, (call) => interrupt().then(call)) })
  return {
    once: (next: Act) => set(next, false),
    always: (next: Act) => set(next, true),
    end: () => set(undefined, false),
  }
}

export type Interruption = ReturnType<typeof interruptChanges>
