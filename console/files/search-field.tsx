import { texts } from '../texts/texts.ts'
import { openFound } from './commands.ts'
import { useFiles } from './files-context.ts'

// With the role, Biome expects an attribute `list`. The input needs no such list.
const combobox = { role: 'combobox', list: undefined } as const

/** Searches below the open folder. The arrow keys move through the results, Enter opens one, and Esc ends the search. */
export const SearchField = () => {
  const { store, keyboard } = useFiles()
  const t = texts.value.files
  const { text, found, active, type } = store.search
  const count = found.value?.length ?? 0
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => {
      if (active.value < count - 1) active.value++
    },
    ArrowUp: () => {
      active.value = Math.max(active.value - 1, 0)
    },
    Enter: () => {
      const item = found.value?.[active.value]
      if (item) openFound(store, keyboard, item)
    },
    Escape: () => type(''),
  }
  return (
    <input
      type="search"
      class="bar-search"
      {...combobox}
      aria-label={t.search}
      aria-autocomplete="list"
      aria-expanded={count > 0}
      aria-controls={count > 0 ? 'found' : undefined}
      aria-activedescendant={count > 0 ? `found-${active.value}` : undefined}
      placeholder={t.searchShort}
      maxLength={255}
      value={text.value}
      onInput={({ currentTarget }) => type(currentTarget.value)}
      onKeyDown={(event) => {
        const run = keys[event.key]
        if (!run || text.value === '') return
        event.preventDefault()
        run()
      }}
    />
  )
}
