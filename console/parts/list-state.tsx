import { texts } from '../texts/texts.ts'
import { Failure } from './failure.tsx'

interface ListStateProps {
  readonly items: unknown
  readonly failure: unknown
  readonly onRepeat: (() => void) | undefined
}

/** Shown above a list. Tells why the list could not be read, or that its first read is running. */
export const ListState = ({ items, failure, onRepeat }: ListStateProps) => (
  <>
    <Failure error={failure} onRepeat={onRepeat} />
    {!items && failure === undefined && <p class="empty">{texts.value.loading}</p>}
  </>
)
