import { Button } from '../parts/button.tsx'
import { formatMoment, formatSize } from '../parts/format.ts'
import { texts } from '../texts/texts.ts'
import { linkOf } from './commands.ts'
import { type EntryProps, entryEvents, keepSelecting } from './entry-events.ts'
import { EntryIcon } from './entry-icon.tsx'
import { useFiles } from './files-context.ts'

export const FileRow = (given: EntryProps) => {
  const files = useFiles()
  const { entry, index, isChosen, onMenu } = given
  const { name, type, size, lastModified } = entry
  const t = texts.value.files
  const { path, selectOnly, looks, props } = entryEvents(files, given)
  const content = type === 'folder' ? files.store.tree.contentOf(path) : undefined
  const changed = lastModified ?? content?.changed
  return (
    <div id={`file-${index}`} role="row" aria-rowindex={index + 2} class={`row ${looks}`} {...props}>
      <span role="gridcell" class="cell-check">
        <input type="checkbox" tabIndex={-1} checked={isChosen} aria-label={t.chooseRow(name)} />
      </span>
      <span role="gridcell" class="cell-name">
        <a
          href={linkOf(files.store.folder.path.value, entry)}
          tabIndex={-1}
          draggable={false}
          title={name}
          onClick={keepSelecting}
        >
          <EntryIcon name={name} type={type} />
          <bdi>{name}</bdi>
        </a>
      </span>
      <span role="gridcell" class="cell-size">
        {type === 'file' ? formatSize(size) : content && texts.value.items(content.count)}
      </span>
      <span role="gridcell" class="cell-date">
        {changed ? formatMoment(changed) : ''}
      </span>
      <span role="gridcell" class="cell-more">
        <MoreButton name={name} onOpen={selectOnly} onMenu={onMenu} />
      </span>
    </div>
  )
}

interface MoreButtonProps extends Pick<EntryProps, 'onMenu'> {
  readonly name: string
  readonly onOpen: () => void
}

/** Only the pointer needs this button: keyboard users have the menu key and the toolbar. */
const MoreButton = ({ name, onOpen, onMenu }: MoreButtonProps) => (
  <Button
    icon="more"
    kind="quiet"
    tabIndex={-1}
    label={`${texts.value.more}: ${name}`}
    onClick={(event) => {
      event.stopPropagation()
      onOpen()
      if (!(event.currentTarget instanceof Element)) return
      const { left, bottom } = event.currentTarget.getBoundingClientRect()
      onMenu({ x: left - 150, y: bottom + 2 })
    }}
  />
)
