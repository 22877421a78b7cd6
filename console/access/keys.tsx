import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { Change, CreatedKey, Key } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { useLiveList } from '../page/live-list.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { useRetainedFocus } from '../parts/focus.ts'
import { formatMoment } from '../parts/format.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { describeEntry } from './describe-rights.ts'
import { CreatedKeyDialog, CreateKeyDialog, RevokeKeyDialog } from './key-dialogs.tsx'
import { Table } from './table.tsx'

type Opened = 'create' | { readonly created: CreatedKey } | { readonly revoked: Key }

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
  const heading = useId()
  const { items, failure, load } = useLiveList<Key>((client) => client.access.keys.list(), isAboutKeys)
  const opened = useSignal<Opened | undefined>(undefined)
  const box = useRetainedFocus<HTMLElement>()
  const show = (dialog: Opened | undefined) => {
    opened.value = dialog
  }
  const created = useSignal<CreatedKey | undefined>(undefined)
  const close = () => {
    show(created.value && { created: created.value })
    created.value = undefined
    load()
  }
  const dialog = opened.value
  return (
    <section ref={box} aria-labelledby={heading} tabIndex={-1}>
      <div class="pane-head">
        <h2 id={heading}>{t.keys.list}</h2>
        {me.kind !== 'token' && (
          <Button icon="plus" onClick={() => show('create')}>
            {t.keys.create}
          </Button>
        )}
      </div>
      <p class="soft">{t.keys.purpose}</p>
      {failure.value !== undefined && <Failure error={failure.value} onRepeat={load} />}
      {!items.value && failure.value === undefined && <p class="empty">{t.loading}</p>}
      {items.value && items.value.length > 0 && (
        <KeysTable keys={items.value} onRevoke={(key) => show({ revoked: key })} />
      )}
      {dialog === 'create' && (
        <CreateKeyDialog
          onCreated={(key) => {
            created.value = key
          }}
          onClose={close}
        />
      )}
      {typeof dialog === 'object' && 'created' in dialog && (
        <CreatedKeyDialog value={dialog.created} onClose={() => show(undefined)} />
      )}
      {typeof dialog === 'object' && 'revoked' in dialog && <RevokeKeyDialog value={dialog.revoked} onClose={close} />}
    </section>
  )
}
