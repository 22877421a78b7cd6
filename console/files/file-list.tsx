import { Icon } from '../parts/icon.tsx'
import { Rows } from '../parts/rows.tsx'
import { texts } from '../texts/texts.ts'
import type { Column } from './arrange.ts'
import { FileRow } from './file-row.tsx'
import { useFiles } from './files-context.ts'
import { useEntries } from './use-entries.tsx'

const columns: readonly Column[] = ['name', 'size', 'lastModified']
const Head = () => {
  const { store } = useFiles()
  const t = texts.value.files
  const { column: sorted, isDescending } = store.folder.order.value
  const chosen = store.folder.chosen.value.length
  const count = store.folder.shown.value.length
  return (
    <div role="row" aria-rowindex={1} class="row row-head">
      <span role="columnheader" class="cell-check">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={chosen > 0 ? t.clearSelection : t.list}
          checked={count > 0 && chosen === count}
          indeterminate={chosen > 0 && chosen < count}
          onClick={() => (chosen > 0 ? store.folder.clearSelection() : store.folder.chooseAll())}
        />
      </span>
      {columns.map((column) => (
        <span
          key={column}
          role="columnheader"
          class={{ name: 'cell-name', size: 'cell-size', lastModified: 'cell-date' }[column]}
          aria-sort={column === sorted ? (isDescending ? 'descending' : 'ascending') : undefined}
        >
          <button type="button" onClick={() => store.folder.sortBy(column)}>
            {t.columns[column]}
            {column === sorted && <Icon name={isDescending ? 'down' : 'up'} />}
          </button>
        </span>
      ))}
      <span role="columnheader" class="cell-more">
        <span class="unseen">{texts.value.more}</span>
      </span>
    </div>
  )
}

export const FileList = () => {
  const { rows, selection, index, box, menu, openMenu } = useEntries(1)
  return (
    <>
      <Rows
        box={{ ...box, 'aria-rowcount': rows.length + 1 }}
        head={<Head />}
        items={rows}
        active={index}
        row={(entry, at, slot) => (
          <FileRow
            key={slot}
            entry={entry}
            index={at}
            isChosen={selection.chosen.has(entry.name)}
            isActive={entry.name === selection.active}
            onMenu={openMenu}
          />
        )}
      />
      {menu}
    </>
  )
}
