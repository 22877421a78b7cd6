import type { Change, Invitation, User } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { useLiveList } from '../page/live-list.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { attemptOrNotify, notify } from '../parts/toasts.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { useDialogs } from './dialogs.ts'
import { type Action, PeopleTable } from './people-table.tsx'
import { InviteDialog, QuestionDialog, RoleDialog, titleOfPerson } from './person-dialogs.tsx'
import { grantableRoles } from './roles.ts'
import { SecretDialog, type SecretOf } from './secret-dialog.tsx'
import { Section } from './section.tsx'

type Opened =
  | { readonly kind: 'invite' }
  | { readonly kind: Exclude<Action, 'enable'>; readonly user: User }
  | SecretOf<'invitation'>

const isAboutPeople = ({ type }: Change): boolean => type.startsWith('user.')

interface OpenDialogProps {
  readonly dialog: Opened
  readonly onNext: (dialog: Opened) => void
  readonly onClose: () => void
}

/** When a dialog has created an invitation, the next dialog shows the link of the invitation. */
const OpenDialog = ({ dialog, onNext, onClose }: OpenDialogProps) => {
  const onInvited = ({ name, invitation, expires }: Invitation) => {
    if (invitation !== undefined && expires !== undefined)
      onNext({ kind: 'invitation', name, expires, secret: invitation })
    else notify(viewTexts.value.access.joined(name))
  }
  switch (dialog.kind) {
    case 'invite':
      return <InviteDialog onInvited={onInvited} onClose={onClose} />
    case 'role':
      return <RoleDialog user={dialog.user} onClose={onClose} />
    case 'again':
    case 'disable':
    case 'remove':
      return <QuestionDialog question={dialog.kind} user={dialog.user} onInvited={onInvited} onClose={onClose} />
    case 'invitation':
      return <SecretDialog {...dialog} onClose={onClose} />
    default:
      return null
  }
}

/** Shows the people of the site (K-29). Only callers who may change people see the buttons. */
export const People = () => {
  const { client, rights } = usePage()
  const t = viewTexts.value.access
  const list = useLiveList<User>((client) => client.access.people.list(), isAboutPeople)
  const users = list.items.value
  const { opened, show, follow, close } = useDialogs<Opened>(list.load)
  const enable = (user: User) =>
    attemptOrNotify(async () => {
      await client.access.people.change(user.name, { disabled: false })
      notify(viewTexts.value.switched(titleOfPerson(user), true))
      await list.load()
    })
  const canInvite = rights.has('access:write') && grantableRoles(rights).length > 0
  return (
    <Section
      title={t.people}
      list={list}
      action={
        canInvite && (
          <Button kind="primary" icon="plus" onClick={() => show({ kind: 'invite' })}>
            {t.invite}
          </Button>
        )
      }
    >
      {users?.length === 0 && <Empty icon="person" title={t.none} />}
      {users && users.length > 0 && (
        <PeopleTable
          users={users}
          onAction={(kind, user) => {
            if (kind === 'enable') enable(user)
            else show({ kind, user })
          }}
        />
      )}
      {opened && <OpenDialog dialog={opened} onNext={follow} onClose={close} />}
    </Section>
  )
}
