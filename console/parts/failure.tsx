import { ServiceError } from '../../client/src/index.ts'
import { texts } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { formatDuration } from './format.ts'
import { Icon } from './icon.tsx'

/** E-46 */
export const nameTaken = 104022

export const nameTakenError = (): ServiceError => new ServiceError({ status: 400, code: nameTaken, message: '' })

/**
 * The message of a failure of the service. Other errors are faults of this page: their messages appear in the console
 * of the browser.
 */
export const messageOf = (error: unknown): string => {
  // Without an answer of the service, the page shows a message of its own. A gateway or proxy answers without a code.
  if (
    error instanceof ServiceError &&
    error.code === error.status &&
    (error.cause !== undefined || error.status >= 500)
  )
    return texts.value.unreachable
  if (error instanceof ServiceError && error.status === 429 && error.retryAfter !== undefined)
    return texts.value.tooMany(formatDuration(error.retryAfter))
  if (error instanceof ServiceError && error.code === nameTaken) return texts.value.nameTaken
  if (error instanceof ServiceError)
    return [error.message, ...error.errors.map(({ path, message }) => `${path}: ${message}`)].join('\n')
  if (error instanceof DOMException && /^Not(Readable|Found)/.test(error.name)) return texts.value.unreadable
  console.error(error)
  return texts.value.unexpected
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
