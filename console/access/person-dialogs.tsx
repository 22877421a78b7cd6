import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { Invitation, User } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { Button } from '../parts/button.tsx'
import { copyText } from '../parts/copy-text.ts'
import { Dialog, FormDialog } from '../parts/dialog.tsx'
import { Field } from '../parts/fields.tsx'
import { formatMoment } from '../parts/format.ts'
import { notify, notifyFailure } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { EntryFields, useEntryFields } from './entry-fields.tsx'

interface DialogProps {
  readonly onClose: () => void
}

interface InvitingProps extends DialogProps {
  readonly onInvited: (invitation: Invitation) => void
}

interface UserProps extends DialogProps {
  readonly user: User
}

export const titleOfPerson = ({ name, displayName }: User): string => displayName || name

export const InviteDialog = ({ onInvited, onClose }: InvitingProps) => {
  const { client } = usePage()
  const t = texts.value.access
  const [name, displayName, email] = [useSignal(''), useSignal(''), useSignal('')]
  const fields = useEntryFields()
  const submit = async () => {
    const entry = fields.entry.value
    if (!entry) return
    const added = await client.access.people.add({
      name: name.value.trim(),
      ...(displayName.value.trim() !== '' && { displayName: displayName.value.trim() }),
      ...(email.value.trim() !== '' && { email: email.value.trim() }),
      ...entry,
    })
    onInvited(added)
  }
  return (
    <FormDialog
      title={t.inviteTitle}
      action={t.inviteAction}
      isReady={name.value.trim() !== '' && fields.entry.value !== undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={t.name} value={name} isPlain maxLength={64} />
      <Field label={t.displayName} value={displayName} isOptional maxLength={200} />
      <Field label={t.email} value={email} isPlain isOptional maxLength={254} />
      <EntryFields fields={fields} />
    </FormDialog>
  )
}

export const RoleDialog = ({ user, onClose }: UserProps) => {
  const { client } = usePage()
  const t = texts.value.access
  const fields = useEntryFields(user)
  const submit = async () => {
    const entry = fields.entry.value
    if (entry) await client.access.people.change(user.name, entry)
  }
  return (
    <FormDialog
      title={t.roleTitle(titleOfPerson(user))}
      action={t.save}
      isReady={fields.entry.value !== undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <EntryFields fields={fields} user={user} />
    </FormDialog>
  )
}

export const InviteAgainDialog = ({ user, onInvited, onClose }: UserProps & InvitingProps) => {
  const { client } = usePage()
  const t = texts.value.access
  return (
    <FormDialog
      title={t.againTitle(titleOfPerson(user))}
      action={t.againAction}
      onSubmit={async () => onInvited(await client.access.people.change(user.name, { invite: true }))}
      onClose={onClose}
    >
      <p>{t.againText}</p>
    </FormDialog>
  )
}

export const DisableDialog = ({ user, onClose }: UserProps) => {
  const { client } = usePage()
  const t = texts.value.access
  return (
    <FormDialog
      title={t.disableTitle(titleOfPerson(user))}
      action={t.disableAction}
      isDangerous
      onSubmit={async () => void (await client.access.people.change(user.name, { disabled: true }))}
      onClose={onClose}
    >
      <p>{t.disableText}</p>
    </FormDialog>
  )
}

export const RemovePersonDialog = ({ user, onClose }: UserProps) => {
  const { client } = usePage()
  const t = texts.value.access
  return (
    <FormDialog
      title={t.removeTitle(titleOfPerson(user))}
      action={t.removeAction}
      isDangerous
      onSubmit={async () => {
        await client.access.people.remove(user.name)
        notify(t.removed(titleOfPerson(user)))
      }}
      onClose={onClose}
    >
      <p>{t.removeText}</p>
    </FormDialog>
  )
}

interface InvitationProps extends DialogProps {
  readonly name: string
  readonly link: string
  readonly expires: string
}

/** The service never shows the link again, so only the buttons close this dialog. */
export const InvitationDialog = ({ name, link, expires, onClose }: InvitationProps) => {
  const t = texts.value.access
  const [field, hint] = [useId(), useId()]
  const copy = async () => {
    try {
      await copyText(link)
      notify(t.linkCopied)
    } catch (error) {
      notifyFailure('', error)
    }
  }
  return (
    <Dialog title={t.invitationOf(name)} isClosable={false} onClose={onClose}>
      <div class="dialog-body">
        <div class="field">
          <label for={field}>{t.link}</label>
          <input
            id={field}
            class="mono"
            readOnly
            value={link}
            aria-describedby={hint}
            onFocus={({ currentTarget }) => currentTarget.select()}
          />
          <p id={hint} class="hint">
            {t.linkHint(formatMoment(expires))}
          </p>
        </div>
      </div>
      <footer>
        <Button onClick={onClose}>{t.done}</Button>
        <Button kind="primary" icon="copy" onClick={copy}>
          {t.copyLink}
        </Button>
      </footer>
    </Dialog>
  )
}
