import { useRef } from 'preact/hooks'
import { useOneClick } from '../parts/button.tsx'
import { formatMoment } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import type { Item, ListStore, SortKey } from './objects-store.ts'

export const titleOf = ({ id, title }: Item): string => title.trim() || viewTexts.value.categories.untitled(id)

interface ItemsTableProps {
  readonly label: string
  readonly list: ListStore
  readonly onOpen?: (item: Item) => void
  /** Shows or hides an item. Without `onDisplay`, the table has no such buttons. */
  readonly onDisplay?: ((item: Item, isDisplayable: boolean) => void) | undefined
}

interface ColumnProps {
  readonly list: ListStore
  readonly sort: SortKey
  readonly label: string
  readonly class?: string
}

/** The heading sorts by its column. A second click reverses the order. */
const Column = ({ list, sort, label, ...rest }: ColumnProps) => {
  const { sort: now, isDescending } = list.view.value
  const isSorted = now === sort
  return (
    <th scope="col" class={rest.class} aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : undefined}>
      <button
        type="button"
        class="column"
        onClick={() => list.show({ sort, isDescending: isSorted ? !isDescending : sort === 'released' })}
      >
        {label}
        {isSorted && <Icon name={isDescending ? 'down' : 'up'} />}
      </button>
    </th>
  )
}

const stateOf = ({ isDeleted, isEnabled }: Item): 'deleted' | 'disabled' | undefined =>
  isDeleted ? 'deleted' : isEnabled ? undefined : 'disabled'

interface DisplaySwitchProps {
  readonly item: Item
  readonly onDisplay: NonNullable<ItemsTableProps['onDisplay']>
}

const DisplaySwitch = ({ item, onDisplay }: DisplaySwitchProps) => (
  <button
    type="button"
    role="switch"
    class="switch"
    aria-label={viewTexts.value.categories.displaying(titleOf(item))}
    aria-checked={item.isDisplayable}
    onClick={useOneClick(() => onDisplay(item, !item.isDisplayable))}
  />
)

/** Shows one page of items. The user can sort them, open them, and select them (a range with Shift). */
export const ItemsTable = ({ label, list, onOpen, onDisplay }: ItemsTableProps) => {
  const t = viewTexts.value.categories
  const last = useRef<number | undefined>(undefined)
  const items = list.page.value?.items ?? []
  const free = items.filter(({ isLinked }) => !isLinked)
  const chosen = list.chosen.value
  const isAll = free.length > 0 && free.every(({ id }) => chosen.has(id))
  const choose = (index: number, isChosen: boolean, isRange: boolean) => {
    // The item before may be on another page.
    const before = isRange ? items.findIndex(({ id }) => id === last.current) : -1
    const [from = index, to = index] = before < 0 ? [] : [before, index].toSorted((a, b) => a - b)
    list.choose(items.slice(from, to + 1), isChosen)
    last.current = items[index]?.id
  }
  return (
    <table class="items" aria-label={label} aria-busy={list.isLoading.value}>
      <thead>
        <tr>
          <th class="items-check">
            <input
              type="checkbox"
              aria-label={t.chooseAll}
              checked={isAll}
              disabled={free.length === 0}
              onChange={() => list.choose(free, !isAll)}
            />
          </th>
          <Column list={list} sort="title" label={t.title} />
          <Column list={list} sort="released" label={t.released} class="items-date" />
          {onDisplay && (
            <th scope="col" class="items-switch">
              {t.displayed}
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {items.map((item, index) => {
          const { id, released, isLinked = false } = item
          const title = titleOf(item)
          const state = stateOf(item)
          return (
            <tr key={id} class={chosen.has(id) ? 'is-chosen' : ''}>
              <td class="items-check">
                <input
                  type="checkbox"
                  aria-label={t.choosing(title)}
                  checked={isLinked || chosen.has(id)}
                  disabled={isLinked}
                  onClick={(event) => choose(index, event.currentTarget.checked, event.shiftKey)}
                />
              </td>
              <td>
                <span class="items-title">
                  {onOpen ? (
                    <button type="button" class="link" onClick={() => onOpen(item)}>
                      <bdi>{title}</bdi>
                    </button>
                  ) : (
                    <bdi>{title}</bdi>
                  )}
                  {state && <span class={`state state-${state}`}>{t.states[state]}</span>}
                  {isLinked && <span class="state">{t.isLinked}</span>}
                </span>
              </td>
              <td class="items-date soft">{released && formatMoment(released)}</td>
              {onDisplay && (
                <td class="items-switch">
                  <DisplaySwitch item={item} onDisplay={onDisplay} />
                </td>
              )}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
