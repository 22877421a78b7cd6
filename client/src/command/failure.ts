import { CommanderError } from 'commander'
import { ServiceError } from '../service-error.ts'
import { sentenceOf } from '../sync/disk-errors.ts'
import { LocalRefusal } from '../sync/local-refusal.ts'
import { OutputLost } from './output.ts'
import { shown } from './shown.ts'

/** Exit statuses for scripts. */
export const exitStatus = { done: 0, failed: 1, usage: 2, conflicts: 3 } as const

/** The command was not called as it must be; the message says how. Exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The reason of the signal when somebody presses Ctrl+C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

// Advice that the message does not have.
const hintOn = ({ status, code }: ServiceError): string => {
  if (status === 401) return ' Give a valid token by --token-file, SITE_ADMIN_TOKEN or "site-files login".'
  // The address of the console, such as a browser shows it, is one that people try.
  if (code === 100004) return ' Check the address: it is the one of the service, such as https://admin.example.com.'
  // In the words of a proxy, which has a code of its own for nothing.
  if ([502, 503, 504].includes(status) && code === status)
    return ' The service behind it may not be running: repeat the command when it is.'
  return ''
}

/** A failure as one sentence, without a stack. */
const adviceOn = (error: unknown): string => {
  if (error instanceof ServiceError) {
    const id = error.requestId && ` (request ${error.requestId})`
    return `${error.message}${hintOn(error)}${id}`
  }
  return sentenceOf(error)
}

/** Says on standard error what went wrong, and answers the exit status. */
export const report = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.done : exitStatus.usage
  if (error instanceof Interrupted) {
    console.error('\nStopped. What is done stays. Repeat the command for the rest.')
    return exitStatus.failed
  }
  if (error instanceof OutputLost && error.hasReaderGone) {
    console.error('Nobody reads the output any more: stopped. What is done stays. Repeat the command for the rest.')
    return exitStatus.failed
  }
  console.error(shown(adviceOn(error)))
  if (error instanceof UsageError) return exitStatus.usage
  const isConflict =
    (error instanceof ServiceError && error.status === 412) || (error instanceof LocalRefusal && error.isConflict)
  return isConflict ? exitStatus.conflicts : exitStatus.failed
}
