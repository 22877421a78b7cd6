import { setTimeout as sleep } from 'node:timers/promises'
import { isStoreUnavailable } from '../../store-failure.ts'
import { isPreconditionFailure } from './bucket.ts'

/** How often a call is made, when it fails in passing. */
const attempts = 3
/** The longest pause before the second time, in milliseconds; before the third it is twice as long. */
const firstPause = 100

/**
 * Runs a call that makes a version of an object, and answers which. When the call fails, what it may have made all the same is looked for
 * before it is run again: a version that nobody knows of could not be taken back.
 */
export const makeVersion = async (
  run: () => Promise<{ VersionId?: string | undefined }>,
  find: () => Promise<string | undefined>,
): Promise<string | undefined> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await run()).VersionId
    } catch (error) {
      // It was refused, so nothing was made.
      if (isPreconditionFailure(error)) throw error
      const found = await find()
      if (found) return found
      if (attempt === attempts || !isStoreUnavailable(error)) throw error
    }
    await sleep(Math.random() * firstPause * attempt)
  }
}
