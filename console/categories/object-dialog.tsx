import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Find, found, type Named } from '../parts/chooser.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { Rows } from '../parts/rows.tsx'
import { notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { titleOf } from './items-table.tsx'
import { ObjectFacts } from './object-facts.tsx'
import { type Item, inChunks, type Kind } from './objects-store.ts'

interface ObjectDialogProps {
  readonly item: Item
  readonly kind: Kind
  readonly categories: readonly Named[]
  readonly onSaved: () => void
  readonly onClose: () => void
}

export const ObjectDialog = ({ item, kind, categories, onSaved, onClose }: ObjectDialogProps) => {
  const t = viewTexts.value.categories
  const { client, access, rights } = usePage()
  const linked = useSignal<ReadonlySet<number>>()
  const wanted = useSignal<ReadonlySet<number>>(new Set())
  const { failure, attempt } = useAttempt()
  const text = useSignal('')
  const load = () =>
    attempt(async () => {
      const { categoriesOf } = client.categories[kind]
      const ids = await Array.fromAsync(categoriesOf(item.id, { fields: 'id' }), ({ id = 0 }) => id)
      linked.value = new Set(ids)
      wanted.value = new Set(ids)
    })
  useEffect(() => {
    if (!linked.value) load()
  }, [access, item.id])
  // Changes that others have made to other links stay.
  const before = linked.value ?? new Set()
  const [added, removed] = [[...wanted.value.difference(before)], [...before.difference(wanted.value)]]
  const submit = async () => {
    await inChunks(added, (some) => client.categories[kind].linkCategories(item.id, some))
    await inChunks(removed, (some) => client.categories[kind].unlinkCategories(item.id, some))
    notify(t.saved(titleOf(item)))
    onSaved()
  }
  const toggle = (id: number) => {
    wanted.value = wanted.value.symmetricDifference(new Set([id]))
  }
  const shown = found(categories, text.value)
  return (
    <FormDialog
      title={titleOf(item)}
      kind="wide"
      action={texts.value.save}
      isReady={added.length + removed.length > 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <ObjectFacts id={item.id} kind={kind} />
      <h3>{t.list}</h3>
      <Failure error={failure.value} onRepeat={load} />
      <Find of={text} />
      {linked.value && (
        <fieldset class="types types-rows" style={{ height: `${Math.max(3, shown.length) * 2.25}rem` }}>
          <legend class="unseen">{t.list}</legend>
          <Rows
            items={shown}
            row={({ id, name }) => (
              <label key={id} class="type" title={name}>
                <input
                  type="checkbox"
                  checked={wanted.value.has(id)}
                  disabled={!rights.has('categories:write')}
                  onChange={() => toggle(id)}
                />
                <bdi>{name}</bdi>
              </label>
            )}
          />
          {shown.length === 0 && <p class="empty">{texts.value.chooser.none}</p>}
        </fieldset>
      )}
    </FormDialog>
  )
}
