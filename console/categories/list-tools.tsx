import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { texts } from '../texts/texts.ts'
import { type ListStore, pageSize } from './objects-store.ts'

interface ListProps {
  readonly list: ListStore
}

/** How long nothing is typed before a search begins, in milliseconds. */
const quiet = 250

/** Searches the titles of a list while somebody types. */
export const Search = ({ list }: ListProps) => {
  const t = texts.value.categories
  const field = useId()
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const search = (text: string, delay: number) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      if (text.trim() !== list.look.value.search.trim()) list.show({ search: text })
    }, delay)
  }
  return (
    <div class="search">
      <label for={field} class="unseen">
        {t.find}
      </label>
      <input
        id={field}
        type="search"
        maxLength={200}
        placeholder={t.find}
        value={list.look.value.search}
        onInput={({ currentTarget }) => search(currentTarget.value, quiet)}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Enter') search(currentTarget.value, 0)
        }}
      />
    </div>
  )
}

/** Where in a list the page stands, and the way to its neighbours. */
export const Pages = ({ list }: ListProps) => {
  const t = texts.value.categories
  const page = list.page.value
  const number = list.look.value.page
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
            onClick={() => list.show({ page: number - 1 })}
          />
          <Button
            icon="right"
            label={t.next}
            disabled={last >= page.total}
            onClick={() => list.show({ page: number + 1 })}
          />
        </>
      )}
    </nav>
  )
}
