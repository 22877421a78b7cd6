import { useEffect, useMemo } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import type { Named } from '../parts/chooser.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { notify } from '../parts/toasts.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { ItemsTable } from './items-table.tsx'
import { Pages, Search } from './list-tools.tsx'
import { createListStore, inChunks, type Kind, readLinkable } from './objects-store.ts'

interface LinkObjectsDialogProps {
  readonly category: Named
  readonly kind: Kind
  readonly onLinked: () => void
  readonly onClose: () => void
}

/** The selection can contain objects of several pages. A mark shows objects that are already linked. */
export const LinkObjectsDialog = ({ category, kind, onLinked, onClose }: LinkObjectsDialogProps) => {
  const t = viewTexts.value.categories
  const { client, access } = usePage()
  const list = useMemo(
    () => createListStore((view, limit) => readLinkable(client.categories, category.id, kind, view, limit)),
    [client, category.id, kind],
  )
  useEffect(() => {
    list.load()
  }, [list, access])
  const chosen = list.chosen.value
  const submit = async () => {
    const ids = [...chosen.keys()]
    await inChunks(ids, (some) => client.categories[kind].link(category.id, some))
    notify(t.linked(ids.length))
    onLinked()
  }
  return (
    <FormDialog
      title={t.linkTitle(category.name)}
      action={t.linkAction(chosen.size)}
      isReady={chosen.size > 0}
      kind="wide"
      onSubmit={submit}
      onClose={onClose}
    >
      <Search list={list} />
      <Failure error={list.failure.value} onRepeat={list.load} />
      {list.page.value?.total === 0 ? (
        <p class="empty">{t.nothingFound}</p>
      ) : (
        list.page.value && <ItemsTable label={t.kinds[kind]} list={list} />
      )}
      <Pages list={list} />
    </FormDialog>
  )
}
