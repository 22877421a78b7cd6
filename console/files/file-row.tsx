import type { FolderContent } from '../../client/src/index.ts'
import { Button } from '../parts/button.tsx'
import { formatMoment, formatSize } from '../parts/format.ts'
import { texts } from '../texts/texts.ts'
import { join } from '../uploads/paths.ts'
import { linkOf } from './commands.ts'
import { dragTarget, dropOn, startDrag } from './drag.ts'
import { EntryIcon } from './entry-icon.tsx'
import { useFiles } from './files-context.ts'

interface FileRowProps {
  readonly entry: FolderContent
  readonly index: number
  readonly isChosen: boolean
  readonly isActive: boolean
  /** Opens the menu at a position of the window. */
  readonly onMenu: (at: { readonly x: number; readonly y: number }) => void
}

export const FileRow = ({ entry, index, isChosen, isActive, onMenu }: FileRowProps) => {
  const files = useFiles()
  const { store, rights } = files
  const { name, type, size, lastModified } = entry
  const t = texts.value.files
  const folder = store.folder.path.value
  const path = join(folder, name)
  const content = type === 'folder' ? store.tree.contentOf(path) : undefined
  const changed = lastModified ?? content?.changed
  const isCut = store.clipboard.value?.how === 'move' && store.clipboard.value.paths.includes(path)
  const chooseAlone = () => {
    if (!store.folder.selection.value.chosen.has(name)) store.folder.choose(name, 'alone')
  }
  return (
    <div
      id={`file-${index}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      class={
        `row${isChosen ? ' is-chosen' : ''}${isActive ? ' is-active' : ''}` +
        `${isCut ? ' is-cut' : ''}${dragTarget.value === path ? ' is-target' : ''}`
      }
      draggable={rights.canWrite(folder)}
      onDragStart={(event) => {
        chooseAlone()
        startDrag(event, store.chosenPaths())
      }}
      onClick={({ shiftKey, ctrlKey, metaKey, target }) => {
        const isAdded = ctrlKey || metaKey || target instanceof HTMLInputElement
        store.folder.choose(name, shiftKey ? 'range' : isAdded ? 'toggle' : 'alone')
      }}
      onContextMenu={(event) => {
        event.preventDefault()
        chooseAlone()
        onMenu({ x: event.clientX, y: event.clientY })
      }}
      {...(type === 'folder' && dropOn(path, files))}
    >
      <span role="gridcell" class="cell-check">
        <input type="checkbox" tabIndex={-1} checked={isChosen} aria-label={t.chooseRow(name)} />
      </span>
      <span role="gridcell" class="cell-name">
        <a
          href={linkOf(folder, entry)}
          tabIndex={-1}
          draggable={false}
          title={name}
          onClick={(event) => {
            if (event.shiftKey || event.ctrlKey || event.metaKey) event.preventDefault()
          }}
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
        <MoreButton name={name} onOpen={chooseAlone} onMenu={onMenu} />
      </span>
    </div>
  )
}

interface MoreButtonProps extends Pick<FileRowProps, 'onMenu'> {
  readonly name: string
  readonly onOpen: () => void
}

/** Only for the pointer: keyboard users have the menu key and the toolbar. */
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
