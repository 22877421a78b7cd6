import { useId } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { copyText } from '../parts/copy-text.ts'
import { Dialog } from '../parts/dialog.tsx'
import { notify, notifyFailure } from '../parts/toasts.tsx'
import { viewTexts } from '../texts/view-texts.ts'

interface SecretDialogProps {
  readonly title: string
  readonly label: string
  readonly hint: string
  readonly secret: string
  /** `copy` is the text of the copy button, and `copied` the notice after a copy. */
  readonly copy: string
  readonly copied: string
  readonly onClose: () => void
}

/** The service never shows the secret again, so only the buttons close this dialog. */
export const SecretDialog = ({ title, label, hint, secret, copy, copied, onClose }: SecretDialogProps) => {
  const [field, description] = [useId(), useId()]
  const copySecret = async () => {
    try {
      await copyText(secret)
      notify(copied)
    } catch (error) {
      notifyFailure('', error)
    }
  }
  return (
    <Dialog title={title} isClosable={false} onClose={onClose}>
      <div class="dialog-body">
        <div class="field">
          <label for={field}>{label}</label>
          <input
            id={field}
            class="mono"
            readOnly
            value={secret}
            aria-describedby={description}
            onFocus={({ currentTarget }) => currentTarget.select()}
          />
          <p id={description} class="hint">
            {hint}
          </p>
        </div>
      </div>
      <footer>
        <Button onClick={onClose}>{viewTexts.value.access.done}</Button>
        <Button kind="primary" icon="copy" onClick={copySecret}>
          {copy}
        </Button>
      </footer>
    </Dialog>
  )
}
