import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { formatSize } from '../parts/format.ts'
import { Rows } from '../parts/rows.tsx'
import { useSize } from '../parts/size.ts'
import { texts } from '../texts/texts.ts'
import { linkOf } from './commands.ts'
import { type EntryProps, entryEvents, keepSelecting } from './entry-events.ts'
import { EntryIcon } from './entry-icon.tsx'
import { useFiles } from './files-context.ts'
import { hasThumbnail, thumbnailOf } from './thumbnails.ts'
import { useEntries } from './use-entries.tsx'

/** In pixels. */
const narrowestTile = 150

const Picture = ({ entry, path }: Pick<EntryProps, 'entry'> & { readonly path: string }) => {
  const { client } = usePage()
  const url = useSignal<string>()
  const { name, type, size, lastModified } = entry
  useEffect(() => {
    const stop = new AbortController()
    if (hasThumbnail(entry))
      thumbnailOf(client, path, entry, stop.signal).then(
        (found) => {
          if (!stop.signal.aborted) url.value = found
        },
        // Without a thumbnail, the tile keeps its icon.
        () => {},
      )
    return () => stop.abort()
  }, [path, size, lastModified])
  return url.value === undefined ? <EntryIcon name={name} type={type} /> : <img src={url.value} alt="" />
}

const Tile = (given: EntryProps & { readonly column: number }) => {
  const files = useFiles()
  const { entry, index, isChosen, column } = given
  const { name, type, size } = entry
  const { path, looks, props } = entryEvents(files, given)
  return (
    <div id={`file-${index}`} role="gridcell" aria-colindex={column} class={`tile ${looks}`} {...props}>
      <a
        href={linkOf(files.store.folder.path.value, entry)}
        tabIndex={-1}
        draggable={false}
        title={name}
        onClick={keepSelecting}
      >
        <span class="tile-picture">
          <Picture entry={entry} path={path} />
        </span>
        <bdi>{name}</bdi>
      </a>
      <span class="hint">{type === 'file' ? formatSize(size) : ''}</span>
      <input type="checkbox" tabIndex={-1} checked={isChosen} aria-label={texts.value.files.chooseRow(name)} />
    </div>
  )
}

/** Shows the entries as tiles with thumbnails (K-42). */
export const FileGrid = () => {
  const columns = useSignal(4)
  const { rows, selection, index, box, menu, openMenu } = useEntries(columns.value)
  useSize(box.ref, ({ clientWidth }) => {
    columns.value = Math.max(2, Math.floor(clientWidth / narrowestTile))
  })
  const lines = Array.from({ length: Math.ceil(rows.length / columns.value) }, (_, line) =>
    rows.slice(line * columns.value, (line + 1) * columns.value),
  )
  return (
    <>
      <Rows
        box={{ ...box, class: 'rows grid tiles', 'aria-rowcount': lines.length, 'aria-colcount': columns.value }}
        items={lines}
        active={index < 0 ? index : Math.floor(index / columns.value)}
        row={(entries, line, slot) => (
          <div
            key={slot}
            role="row"
            aria-rowindex={line + 1}
            class="tiles-line"
            style={{ gridTemplateColumns: `repeat(${columns.value}, minmax(0, 1fr))` }}
          >
            {entries.map((entry, at) => (
              <Tile
                key={entry.name}
                entry={entry}
                index={line * columns.value + at}
                column={at + 1}
                isChosen={selection.chosen.has(entry.name)}
                isActive={entry.name === selection.active}
                onMenu={openMenu}
              />
            ))}
          </div>
        )}
      />
      {menu}
    </>
  )
}
