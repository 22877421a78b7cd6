import { Button } from '../parts/button.tsx'
import { useDebouncedField } from '../parts/debounced-field.ts'
import { attemptOrNotify } from '../parts/toasts.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { type ListStore, pageSize } from './objects-store.ts'

interface ListProps {
  readonly list: ListStore
}

export const Search = ({ list }: ListProps) => {
  const t = viewTexts.value.categories
  const search = useDebouncedField(list.view.value.search, (text) => {
    if (text.trim() !== list.view.value.search.trim()) list.show({ search: text })
  })
  return (
    <div class="search">
      <input type="search" maxLength={200} aria-label={t.find} placeholder={t.find} {...search} />
    </div>
  )
}

export const Pages = ({ list }: ListProps) => {
  const t = viewTexts.value.categories
  const page = list.page.value
  const number = list.view.value.page
  if (!page || page.total === 0) return null
  const first = number * pageSize + 1
  const last = number * pageSize + page.items.length
  return (
    <nav class="pages" aria-label={t.page}>
      <span role="status">{t.shown(first, last, page.total)}</span>
      {page.total > pageSize && (
        <>
          <Button
            icon="left"
            label={t.previous}
            disabled={number === 0}
            onClick={() => void list.show({ page: number - 1 })}
          />
          <Button
            icon="right"
            label={t.next}
            disabled={last >= page.total}
            onClick={() => void list.show({ page: number + 1 })}
          />
          <Button kind="quiet" onClick={() => attemptOrNotify(list.chooseAll)}>
            {t.chooseEverything(page.total)}
          </Button>
        </>
      )}
    </nav>
  )
}
