import { type Signal, useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { Change, Invitation, User } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { useLiveList } from '../page/live-list.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Failure } from '../parts/failure.tsx'
import { useRetainedFocus } from '../parts/focus.ts'
import { notify, notifyFailure } from '../parts/toasts.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { type Action, PeopleTable } from './people-table.tsx'
import { InvitationDialog, InviteDialog, QuestionDialog, RoleDialog } from './person-dialogs.tsx'
import { grantableRoles } from './roles.ts'

type Opened =
  | { readonly kind: 'invite' }
  | { readonly kind: Exclude<Action, 'enable'>; readonly user: User }
  | { readonly kind: 'invitation'; readonly name: string; readonly link: string; readonly expires: string }

const isAboutPeople = ({ type }: Change): boolean => type.startsWith('user.')

interface OpenDialogProps {
  readonly opened: Signal<Opened | undefined>
  readonly onChanged: () => void
}

/** When a dialog has created an invitation, the next dialog shows the link of the invitation. */
const OpenDialog = ({ opened, onChanged }: OpenDialogProps) => {
  const next = useSignal<Opened | undefined>(undefined)
  const dialog = opened.value
  if (!dialog) return null
  const onClose = () => {
    opened.value = next.value
    next.value = undefined
    onChanged()
  }
  const onInvited = ({ name, invitation, expires }: Invitation) => {
    if (invitation !== undefined && expires !== undefined)
      next.value = { kind: 'invitation', name, link: invitation, expires }
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
      return <InvitationDialog {...dialog} onClose={onClose} />
    default:
      return null
  }
}

/** Shows the people of the site (K-29). Only callers who may change people see the buttons. */
export const People = () => {
  const { client, rights } = usePage()
  const heading = useId()
  const t = viewTexts.value.access
  const { items, failure: failed, load } = useLiveList<User>((client) => client.access.people.list(), isAboutPeople)
  const [users, failure] = [items.value, failed.value]
  const opened = useSignal<Opened | undefined>(undefined)
  const pane = useRetainedFocus<HTMLElement>()
  const enable = async (user: User) => {
    try {
      await client.access.people.change(user.name, { disabled: false })
      await load()
    } catch (error) {
      notifyFailure('', error, () => enable(user))
    }
  }
  const canInvite = rights.has('access:write') && grantableRoles(rights).length > 0
  return (
    <section ref={pane} aria-labelledby={heading} tabIndex={-1}>
      <div class="pane-head">
        <h2 id={heading}>{t.people}</h2>
        {canInvite && (
          <Button
            kind="primary"
            icon="plus"
            onClick={() => {
              opened.value = { kind: 'invite' }
            }}
          >
            {t.invite}
          </Button>
        )}
      </div>
      {failure !== undefined && <Failure error={failure} onRepeat={load} />}
      {!users && failure === undefined && <p class="empty">{viewTexts.value.loading}</p>}
      {users?.length === 0 && <Empty icon="person" title={t.none} />}
      {users && users.length > 0 && (
        <PeopleTable
          users={users}
          onAction={(kind, user) => {
            if (kind === 'enable') enable(user)
            else opened.value = { kind, user }
          }}
        />
      )}
      <OpenDialog opened={opened} onChanged={load} />
    </section>
  )
}
