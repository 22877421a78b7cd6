import type { User } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { formatMoment } from '../parts/format.ts'
import { MenuButton, type MenuItem } from '../parts/menu.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { describeEntry } from './describe-rights.ts'
import { titleOfPerson } from './person-dialogs.tsx'
import { actionsOn } from './roles.ts'
import { Table } from './table.tsx'

export type Action = 'role' | 'again' | 'disable' | 'enable' | 'remove'

interface PeopleTableProps {
  readonly users: readonly User[]
  readonly onAction: (action: Action, user: User) => void
}

const itemsFor = (
  user: User,
  allowed: ReturnType<typeof actionsOn>,
  onAction: PeopleTableProps['onAction'],
): readonly MenuItem[] => {
  const t = viewTexts.value.access
  const items: readonly (readonly [boolean, Action, Omit<MenuItem, 'run'>])[] = [
    [allowed.canChangeRole, 'role', { label: t.changeRole, icon: 'rename' }],
    [allowed.canInvite, 'again', { label: t.again, icon: 'link' }],
    [allowed.canDisable && !user.disabled, 'disable', { label: t.disable, icon: 'pause' }],
    [allowed.canDisable && user.disabled, 'enable', { label: t.enable, icon: 'play' }],
    [allowed.canRemove, 'remove', { label: t.remove, icon: 'remove', isDangerous: true }],
  ]
  return items
    .filter(([isAllowed]) => isAllowed)
    .map(([, action, item]) => ({ ...item, run: () => onAction(action, user) }))
}

const State = ({ disabled, invited, lastSignIn }: User) => {
  const t = viewTexts.value.access
  return (
    <>
      {disabled && <span class="state state-deleted">{t.disabled}</span>}
      {invited && <span class="state">{t.invited}</span>}
      {lastSignIn && <span class="soft">{t.lastSignIn(formatMoment(lastSignIn))}</span>}
    </>
  )
}

export const PeopleTable = (props: PeopleTableProps) => {
  const { rights, me } = usePage()
  const t = viewTexts.value.access
  const own = me.kind === 'token' ? undefined : me.name
  const canWrite = rights.has('access:write')
  return (
    <Table label={t.people} columns={[t.person, t.role, t.state]} hasActions={canWrite}>
      {props.users.map((user) => {
        const items = canWrite ? itemsFor(user, actionsOn(user, props.users, rights, own), props.onAction) : []
        return (
          <tr key={user.name}>
            <th scope="row" class="person">
              <bdi>{titleOfPerson(user)}</bdi>
              {titleOfPerson(user) !== user.name && <bdi class="soft">{user.name}</bdi>}
              {user.name === own && <span class="state">{t.you}</span>}
            </th>
            <td class="person-rights">
              {describeEntry(user).map((right) => (
                <div key={right}>{right}</div>
              ))}
            </td>
            <td>
              <State {...user} />
            </td>
            {canWrite && (
              <td class="items-more">
                {items.length > 0 && (
                  <MenuButton icon="more" label={viewTexts.value.actions(titleOfPerson(user))} items={items} />
                )}
              </td>
            )}
          </tr>
        )
      })}
    </Table>
  )
}
