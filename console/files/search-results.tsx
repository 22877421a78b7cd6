import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { useRetainedFocus } from '../parts/focus.ts'
import { Rows } from '../parts/rows.tsx'
import { texts } from '../texts/texts.ts'
import { openFound } from './commands.ts'
import { EntryIcon, EntryPlace } from './entry-icon.tsx'
import { useFiles } from './files-context.ts'

/** The search field keeps the focus, and moves through these rows. */
export const SearchResults = () => {
  const { store, keyboard } = useFiles()
  const t = texts.value.files
  const { found, active, isSearching, hasMore, failure, more, repeat } = store.search
  const rows = found.value ?? []
  const box = useRetainedFocus<HTMLDivElement>()
  return (
    <div ref={box} class="found" tabIndex={-1}>
      <Failure error={failure.value} onRepeat={repeat} />
      <p class="soft" role="status">
        {isSearching.value ? t.searching : found.value && t.found(rows.length, hasMore.value)}
      </p>
      {rows.length > 0 && (
        <div id="found" role="listbox" class="found-list" aria-label={t.results} aria-busy={isSearching.value}>
          <Rows
            items={rows}
            active={active.value}
            row={(item, index) => (
              <div
                key={item.path}
                id={`found-${index}`}
                role="option"
                aria-selected={index === active.value}
                class={`row found-row${index === active.value ? ' is-chosen' : ''}`}
                onClick={() => openFound(store, keyboard, item)}
              >
                <EntryIcon name={item.path} type={item.type} />
                <EntryPlace path={item.path} />
              </div>
            )}
          />
        </div>
      )}
      {hasMore.value && !isSearching.value && <Button onClick={more}>{t.showMore}</Button>}
    </div>
  )
}
