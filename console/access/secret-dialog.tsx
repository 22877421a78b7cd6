import { useId } from 'preact/hooks'
import { useHeldPage } from '../page/held-page.ts'
import { Button } from '../parts/button.tsx'
import { copyText } from '../parts/copy-text.ts'
import { Dialog } from '../parts/dialog.tsx'
import { hintOf, Labelled } from '../parts/fields.tsx'
import { formatMoment } from '../parts/format.ts'
import { attemptOrNotify, notify } from '../parts/toasts.tsx'
import { viewTexts } from '../texts/view-texts.ts'

/** A secret that the service has just created. `name` is the name of the person or the key. */
export interface SecretOf<Kind extends 'invitation' | 'key' | 'webhook'> {
  readonly kind: Kind
  readonly name?: string
  readonly expires?: string
  readonly secret: string
}

interface SecretDialogProps extends SecretOf<'invitation' | 'key' | 'webhook'> {
  readonly onClose: () => void
}

/** The service never shows the secret again, so only a button closes this dialog. */
export const SecretDialog = ({ kind, name = '', expires = '', secret, onClose }: SecretDialogProps) => {
  const { secrets, shownOnce, done } = viewTexts.value.access
  const { title, label, hint, copy, copied } = secrets[kind]
  const id = useId()
  useHeldPage(true)
  const copySecret = () =>
    attemptOrNotify(async () => {
      await copyText(secret)
      notify(copied)
    })
  return (
    <Dialog title={title(name)} isClosable={false} onClose={onClose}>
      <div class="dialog-body">
        <Labelled id={id} label={label} hint={`${hint(formatMoment(expires))} ${shownOnce}`}>
          <input
            id={id}
            class="mono"
            readOnly
            value={secret}
            aria-describedby={hintOf(id)}
            onFocus={({ currentTarget }) => currentTarget.select()}
          />
        </Labelled>
      </div>
      <footer>
        <Button onClick={onClose}>{done}</Button>
        <Button kind="primary" icon="copy" onClick={copySecret}>
          {copy}
        </Button>
      </footer>
    </Dialog>
  )
}
