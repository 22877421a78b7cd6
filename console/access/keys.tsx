import type { Change, Key } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { useLiveList } from '../page/live-list.ts'
import { Button } from '../parts/button.tsx'
import { formatMoment } from '../parts/format.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { describeEntry } from './describe-rights.ts'
import { useDialogs } from './dialogs.ts'
import { CreateKeyDialog, RevokeKeyDialog } from './key-dialogs.tsx'
import { SecretDialog, type SecretOf } from './secret-dialog.tsx'
import { Section } from './section.tsx'
import { Table } from './table.tsx'

type Opened = { readonly kind: 'create' } | SecretOf<'key'> | { readonly kind: 'revoke'; readonly key: Key }

/** The rights of a key also depend on the rights of its person. */
const isAboutKeys = ({ type }: Change): boolean => /^(?:key|user)\./.test(type)

const KeyRow = ({ value, onRevoke }: { readonly value: Key; readonly onRevoke: () => void }) => {
  const t = viewTexts.value.keys
  const { name, user, rights, expires, lastUsed } = value
  return (
    <tr>
      <th scope="row" class="person">
        <bdi>{name}</bdi>
        <bdi class="soft">{user}</bdi>
      </th>
      <td class="person-rights">
        {describeEntry({ role: null, folders: [], rights }).map((right) => (
          <div key={right}>{right}</div>
        ))}
      </td>
      <td>
        <div>{lastUsed ? t.lastUsed(formatMoment(lastUsed)) : t.neverUsed}</div>
        <div class="soft">{t.until(formatMoment(expires))}</div>
      </td>
      <td class="items-more">
        <Button icon="remove" kind="quiet" label={t.revoke(name)} onClick={onRevoke} />
      </td>
    </tr>
  )
}

interface KeysTableProps {
  readonly keys: readonly Key[]
  readonly onRevoke: (key: Key) => void
}

const KeysTable = ({ keys, onRevoke }: KeysTableProps) => {
  const t = viewTexts.value
  return (
    <Table label={t.keys.list} columns={[t.keys.name, t.keys.rights, t.access.state]}>
      {keys.map((key) => (
        <KeyRow key={key.id} value={key} onRevoke={() => onRevoke(key)} />
      ))}
    </Table>
  )
}

/**
 * A key belongs to a person. So a caller with a token of `token issue` can see and revoke keys, but not create one
 * (A-87).
 */
export const Keys = () => {
  const { me } = usePage()
  const t = viewTexts.value
  const list = useLiveList<Key>((client) => client.access.keys.list(), isAboutKeys)
  const keys = list.items.value
  const { opened: dialog, show, follow, close } = useDialogs<Opened>(list.load)
  return (
    <Section
      title={t.keys.list}
      purpose={t.keys.purpose}
      list={list}
      action={
        me.kind !== 'token' && (
          <Button icon="plus" onClick={() => show({ kind: 'create' })}>
            {t.keys.create}
          </Button>
        )
      }
    >
      {keys && keys.length > 0 && <KeysTable keys={keys} onRevoke={(key) => show({ kind: 'revoke', key })} />}
      {dialog?.kind === 'create' && (
        <CreateKeyDialog
          onCreated={({ name, key, expires }) => follow({ kind: 'key', name, expires, secret: key })}
          onClose={close}
        />
      )}
      {dialog?.kind === 'key' && <SecretDialog {...dialog} onClose={close} />}
      {dialog?.kind === 'revoke' && <RevokeKeyDialog value={dialog.key} onClose={close} />}
    </Section>
  )
}
