import { useSignal } from '@preact/signals'
import type { Session } from '../page/session.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { KeepField } from '../parts/fields.tsx'
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
  const submit = async () => {
    await session.signIn({ invitation, password: password.value }, isKept.value ? 'device' : 'tab')
    if (session.failure.value !== undefined) throw session.failure.value
  }
  return (
    <FormDialog
      title={t.title(nameIn(invitation))}
      action={t.accept}
      isReady={isReady.value}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{t.text}</p>
      {now && <p class="soft">{t.replaces(now.name)}</p>}
      <input hidden readOnly autoComplete="username" value={nameIn(invitation)} />
      <NewPassword password={password} repeated={repeated} />
      <KeepField isKept={isKept} />
    </FormDialog>
  )
}
