import { ServiceError } from '../../client/src/index.ts'
import { texts } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { formatDuration } from './format.ts'
import { Icon } from './icon.tsx'

/** E-18, E-46 */
const tokenRefused = 101000
export const nameTaken = 104022

export const nameTakenError = (): ServiceError => new ServiceError({ status: 400, code: nameTaken, message: '' })

/** The page has its own messages where the service gave no answer, and where the message of the service is for programs. */
const serviceMessageOf = ({ status, code, cause, retryAfter, message, errors }: ServiceError): string => {
  // A gateway or proxy answers without a code.
  if (code === status && (cause !== undefined || status >= 500)) return texts.value.unreachable
  if (status === 429 && retryAfter !== undefined) return texts.value.tooMany(formatDuration(retryAfter))
  if (code === tokenRefused) return texts.value.tokenRefused
  if (code === nameTaken) return texts.value.nameTaken
  const faults = errors.map(({ path, message }) => (path ? `${path}: ${message}` : message))
  // The message of a malformed request is its first fault.
  return [...new Set([message, ...faults])].join('\n')
}

/**
 * The message of a failure of the service. Other errors are faults of this page: their messages appear in the console
 * of the browser.
 */
export const messageOf = (error: unknown): string => {
  if (error instanceof ServiceError) return serviceMessageOf(error)
  if (error instanceof DOMException && /^Not(Readable|Found)/.test(error.name)) return texts.value.unreadable
  if (error instanceof DOMException && error.name === 'NotAllowedError') return texts.value.notCopied
  console.error(error)
  return texts.value.unexpected
}

/** For the failure of a script, or of a body that has begun to arrive: the service did not answer. */
export const refuseUnreachable = (cause: unknown): never => {
  console.error(cause)
  throw new ServiceError({ status: 0, code: 0, message: '' }, { cause })
}

interface FailureProps {
  /** If undefined, nothing is shown. */
  readonly error: unknown
  readonly onRepeat?: (() => void) | undefined
}

export const Failure = ({ error, onRepeat }: FailureProps) =>
  error === undefined ? null : (
    <div class="failure" role="alert">
      <Icon name="warning" />
      <p>{messageOf(error)}</p>
      {onRepeat && (
        <Button icon="refresh" onClick={onRepeat}>
          {texts.value.repeat}
        </Button>
      )}
    </div>
  )
