import { useSignal } from '@preact/signals'
import { type Invitation, ServiceError, type User } from '../../client/src/index.ts'
import { hasStatus } from '../../client/src/service-error.ts'
import { usePage } from '../page/context.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { Field } from '../parts/fields.tsx'
import { notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { describeEntry } from './describe-rights.ts'
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
  const t = viewTexts.value.access
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
      action={t.invite}
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
  const { people } = usePage().client.access
  const t = viewTexts.value.access
  const title = t.roleTitle(titleOfPerson(user))
  const fields = useEntryFields(user)
  const save = async (attempts = 3): Promise<void> => {
    const entry = fields.entry.value
    if (!entry) return
    const read = await people.get(user.name)
    const now = describeEntry(read).join()
    // The service may have saved the entry before, although its answer was lost.
    if (now === describeEntry({ folders: [], rights: [], ...entry }).join()) return
    if (now !== describeEntry(user).join()) throw new ServiceError({ status: 409, code: 0, message: t.roleConflict })
    await people.change(user.name, entry, read).catch((error) => {
      if (!hasStatus(error, 412) || attempts === 1) throw error
      return save(attempts - 1)
    })
  }
  const submit = async () => {
    await save()
    notify(texts.value.saved(title))
  }
  return (
    <FormDialog
      title={title}
      action={texts.value.save}
      isReady={fields.entry.value !== undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <EntryFields fields={fields} user={user} />
    </FormDialog>
  )
}

type Question = 'again' | 'disable' | 'remove'

interface QuestionProps extends UserProps, InvitingProps {
  readonly question: Question
}

export const QuestionDialog = ({ question, user, onInvited, onClose }: QuestionProps) => {
  const { people } = usePage().client.access
  const t = viewTexts.value.access
  const name = titleOfPerson(user)
  const { title, text } = t.questions[question]
  const answers: Readonly<Record<Question, () => Promise<void>>> = {
    again: async () => onInvited(await people.change(user.name, { invite: true, email: user.email })),
    disable: async () => {
      await people.change(user.name, { disabled: true })
      notify(viewTexts.value.switched(name, false))
    },
    remove: async () => {
      await people.remove(user.name)
      notify(viewTexts.value.removed(name))
    },
  }
  return (
    <FormDialog
      title={title(name)}
      action={t[question]}
      isDangerous={question !== 'again'}
      onSubmit={answers[question]}
      onClose={onClose}
    >
      <p>{text}</p>
      {question === 'again' && user.email && <p>{t.byEmail(user.email)}</p>}
    </FormDialog>
  )
}
