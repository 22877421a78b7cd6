import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { usePage } from '../page/context.ts'
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

const rowHeight = 36

interface ObjectDialogProps {
  readonly item: Item
  readonly kind: Kind
  readonly categories: readonly Named[]
  readonly onSaved: () => void
  readonly onClose: () => void
}

/** Returns the links to add and to remove. Changes that others have made to other links stay. */
const difference = (linked: ReadonlySet<number>, wanted: ReadonlySet<number>) => ({
  added: [...wanted].filter((id) => !linked.has(id)),
  removed: [...linked].filter((id) => !wanted.has(id)),
})

export const ObjectDialog = ({ item, kind, categories, onSaved, onClose }: ObjectDialogProps) => {
  const t = viewTexts.value.categories
  const { client, access, rights } = usePage()
  const linked = useSignal<ReadonlySet<number> | undefined>(undefined)
  const wanted = useSignal<ReadonlySet<number>>(new Set())
  const failure = useSignal<unknown>(undefined)
  const text = useSignal('')
  const load = async () => {
    failure.value = undefined
    try {
      const ids: number[] = []
      for await (const { id = 0 } of client.categories[kind].categoriesOf(item.id, { fields: 'id' })) ids.push(id)
      linked.value = new Set(ids)
      wanted.value = new Set(ids)
    } catch (error) {
      failure.value = error
    }
  }
  useEffect(() => {
    if (!linked.value) load()
  }, [access, item.id])
  const { added, removed } = difference(linked.value ?? new Set(), wanted.value)
  const submit = async () => {
    await inChunks(added, (some) => client.categories[kind].linkCategories(item.id, some))
    await inChunks(removed, (some) => client.categories[kind].unlinkCategories(item.id, some))
    notify(t.saved(titleOf(item)))
    onSaved()
  }
  const toggle = (id: number, isWanted: boolean) => {
    const next = new Set(wanted.value)
    if (isWanted) next.add(id)
    else next.delete(id)
    wanted.value = next
  }
  const shown = found(categories, text.value)
  return (
    <FormDialog
      title={titleOf(item)}
      kind="wide"
      action={t.save}
      isReady={added.length + removed.length > 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <ObjectFacts id={item.id} kind={kind} />
      <h3>{t.list}</h3>
      {failure.value !== undefined && <Failure error={failure.value} onRepeat={load} />}
      <Find of={text} />
      {linked.value && (
        <fieldset class="types types-rows" style={{ height: `${Math.max(3, shown.length) * rowHeight}px` }}>
          <legend class="unseen">{t.list}</legend>
          <Rows
            count={shown.length}
            height={rowHeight}
            row={(index) => {
              const category = shown[index]
              if (!category) return null
              const { id, name } = category
              return (
                <label key={id} class="type" title={name}>
                  <input
                    type="checkbox"
                    checked={wanted.value.has(id)}
                    disabled={!rights.has('categories:write')}
                    onChange={({ currentTarget }) => toggle(id, currentTarget.checked)}
                  />
                  <bdi>{name}</bdi>
                </label>
              )
            }}
          />
          {shown.length === 0 && <p class="empty">{texts.value.chooser.none}</p>}
        </fieldset>
      )}
    </FormDialog>
  )
}
