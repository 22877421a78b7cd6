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

const hintOn = ({ status, code, message }: ServiceError): string => {
  // A wrong name or password also answers 401.
  if (status === 401 && code !== 101001)
    return ' Pass a valid token with --token-file, SITE_ADMIN_TOKEN or "site-files login".'
  // People often paste the address of the console, for which the service answers this code.
  if (code === 100004) return ' Check the address. A service has an address such as https://admin.example.com.'
  // A proxy sent this answer: the service itself uses other codes.
  if ([502, 503, 504].includes(status) && code === status)
    return ' The service behind the proxy may be down. Repeat the command when it is running.'
  if (status === 0 && /\(\w*(SELF_SIGNED|UNABLE_TO)\w*\)\./.test(message))
    return ' This machine does not trust the certificate. For a certificate of your own authority, set NODE_EXTRA_CA_CERTS to the file of the authority.'
  if (status === 0 && /\((ERR_TLS_)?CERT_\w+\)\./.test(message))
    return ' The certificate is not valid for this address or this date. If the clock of this machine is right, ask the operator of the service to renew it.'
  if (status === 0 && /\(ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)\)\./.test(message))
    return ' If the service has no https, begin the address with http://.'
  return ''
}

const placeOf = ({ status, message, path }: ServiceError): string =>
  path === undefined || status < 400 || status >= 500 || status === 401 || message.includes(`"${path}"`)
    ? ''
    : `${path}: `

const withCommands = (message: string): string =>
  message
    .replace('Send "replace": true', 'Add --replace')
    .replace(' Send a valid token in the Authorization header.', '')
    .replace('Choose a site by its id:', 'Choose a site with --site:')
    .replace('The disk is full.', 'The disk of the service is full.')
    .replace('?versions lists', '"site-files versions" lists')
    .replace('force: must be true or false', 'The service is too old to purge versions, and nothing was deleted.')
    .replace('?deleted lists', 'In the console, "Deleted files" lists')

const adviceOn = (error: unknown, isJson: boolean): string => {
  if (!(error instanceof ServiceError)) return sentenceOf(error)
  const id = error.requestId && ` (request ${error.requestId})`
  return `${isJson ? '' : placeOf(error)}${withCommands(error.message)}${hintOn(error)}${id}`
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
  console.error(refusalOf(adviceOn(error, isJson), isJson, error))
  if (error instanceof UsageError) return exitStatus.usage
  return isConflict(error) ? exitStatus.conflicts : exitStatus.failed
}
