import { CommanderError } from 'commander'
import { ServiceError } from '../service-error.ts'
import { sentenceOf } from '../sync/disk-errors.ts'
import { isConflict } from '../sync/local-refusal.ts'
import { refusalOf } from './format-text.ts'
import { OutputLost } from './output.ts'

export const exitStatus = { done: 0, failed: 1, usage: 2, conflicts: 3 } as const

/** The user has typed a wrong command. The message explains the correct usage. The exit status is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** After Ctrl+C, this is the reason of the abort signal. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

const hintOn = ({ status, code }: ServiceError): string => {
  // A wrong name or password also answers 401.
  if (status === 401 && code !== 101001)
    return ' Pass a valid token with --token-file, SITE_ADMIN_TOKEN or "site-files login".'
  // People often paste the address of the console, for which the service answers this code.
  if (code === 100004) return ' Check the address. A service has an address such as https://admin.example.com.'
  // A proxy sent this answer: the service itself uses other codes.
  if ([502, 503, 504].includes(status) && code === status)
    return ' The service behind the proxy may be down. Repeat the command when it is running.'
  return ''
}

const adviceOn = (error: unknown): string => {
  if (error instanceof ServiceError) {
    const id = error.requestId && ` (request ${error.requestId})`
    return `${error.message}${hintOn(error)}${id}`
  }
  return sentenceOf(error)
}

export const report = (error: unknown, isJson = false): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.done : exitStatus.usage
  const isUnread = error instanceof OutputLost && error.isReaderClosed
  if (error instanceof Interrupted || isUnread) {
    const why = isUnread ? ', because the output was closed' : ''
    const message = `Stopped${why}. Completed changes stay. Repeat the command to continue.`
    // A terminal shows ^C on the line of the command.
    console.error(`${isUnread || isJson ? '' : '\n'}${refusalOf(message, isJson)}`)
    return exitStatus.failed
  }
  console.error(refusalOf(adviceOn(error), isJson, error))
  if (error instanceof UsageError) return exitStatus.usage
  return isConflict(error) ? exitStatus.conflicts : exitStatus.failed
}
