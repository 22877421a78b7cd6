import { useSignal } from '@preact/signals'
import type { Session } from '../page/session.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { KeepField } from '../parts/fields.tsx'
import { texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { NewPassword, useNewPassword } from './new-password.tsx'

interface AcceptInvitationProps {
  readonly session: Session
  readonly invitation: string
  readonly onClose: () => void
}

/** An invitation begins with the name of the person: `ann.<64 digits>`. */
const nameIn = (invitation: string): string => invitation.slice(0, Math.max(0, invitation.lastIndexOf('.')))

/** A person chooses a password, and is then signed in. */
export const AcceptInvitation = ({ session, invitation, onClose }: AcceptInvitationProps) => {
  const t = viewTexts.value.invitation
  const { password, repeated, isReady } = useNewPassword()
  const isKept = useSignal(false)
  const now = session.entrance.value?.me
  const failure = useSignal<unknown>()
  const submit = async (event: Event) => {
    event.preventDefault()
    if (session.isBusy.value || !isReady.value) return
    failure.value = undefined
    await session.signIn({ invitation, password: password.value }, isKept.value ? 'device' : 'tab')
    failure.value = session.failure.value
    if (failure.value === undefined) onClose()
  }
  return (
    <Dialog title={t.title(nameIn(invitation))} onClose={onClose}>
      <form onSubmit={submit} aria-busy={session.isBusy.value}>
        <div class="dialog-body">
          <p>{t.text}</p>
          {now && <p class="soft">{t.replaces(now.name)}</p>}
          <input hidden readOnly autoComplete="username" value={nameIn(invitation)} />
          <NewPassword password={password} repeated={repeated} />
          <KeepField isKept={isKept} />
        </div>
        <Failure error={failure.value} />
        <footer>
          <Button onClick={onClose}>{texts.value.cancel}</Button>
          <Button type="submit" kind="primary" disabled={!isReady.value}>
            {t.accept}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
