import { useRef } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { Button } from '../parts/button.tsx'
import { useContentFocus } from '../parts/focus.ts'
import { withoutDots } from '../parts/format.ts'
import { MenuButton, type MenuItem } from '../parts/menu.tsx'
import { setter } from '../parts/setter.ts'
import { texts } from '../texts/texts.ts'
import { type Command, commandsFor, paste } from './commands.ts'
import { useFileDialogs } from './file-dialogs.tsx'
import { useFiles } from './files-context.ts'
import { chooseLayout, layout } from './layout.ts'
import { SearchField } from './search-field.tsx'

const ChosenTools = ({ commands }: { readonly commands: readonly Command[] }) => {
  const { store } = useFiles()
  const t = texts.value.files
  const count = t.chosen(store.folder.chosen.value.length)
  const tools = useRef<HTMLDivElement>(null)
  useContentFocus(tools)
  return (
    <div ref={tools} class="bar-chosen" role="toolbar" aria-label={count}>
      <Button icon="close" kind="quiet" label={t.clearSelection} onClick={store.folder.clearSelection} />
      <span class="bar-count" role="status">
        {count}
      </span>
      {commands
        .filter(({ isMinor }) => !isMinor)
        .map(({ label, icon, run }) => (
          <Button key={label} {...(icon && { icon })} kind="quiet" title={label} onClick={run}>
            <span class="bar-label">{withoutDots(label)}</span>
          </Button>
        ))}
    </div>
  )
}

export const Toolbar = () => {
  const files = useFiles()
  const { store, uploads, rights } = files
  const { client } = usePage()
  const t = texts.value.files
  const { fields, choose } = useFileDialogs((given) => uploads.add(given, store.folder.path.value))
  const isChosen = store.folder.chosen.value.length > 0
  const commands = commandsFor(files, client)
  const folder = store.folder.path.value
  const canWrite = rights.canWrite(folder)
  const newFolder = setter(store.dialog, { kind: 'newFolder', path: folder })
  const shortcuts = setter(store.dialog, { kind: 'shortcuts' })
  const downloadFolder: MenuItem = {
    label: t.zip.folder,
    icon: 'download',
    run: setter(store.dialog, { kind: 'zip', paths: [folder] }),
  }
  return (
    <div class={`bar${isChosen ? ' is-chosen' : ''}`}>
      {isChosen ? <ChosenTools commands={commands} /> : <SearchField />}
      {canWrite && (
        <>
          <Button icon="plus" title={t.newFolder} onClick={newFolder}>
            <span class="bar-label">{t.newFolder}</span>
          </Button>
          <span class="split-button">
            <Button icon="upload" kind="primary" title={t.upload} onClick={() => choose('files')}>
              <span class="bar-label">{t.upload}</span>
            </Button>
            <MenuButton
              label={t.uploadWhat}
              icon="down"
              kind="primary"
              items={[
                { label: t.uploadFiles, icon: 'file', run: () => choose('files') },
                { label: t.uploadFolder, icon: 'folder', run: () => choose('folder') },
              ]}
            />
          </span>
        </>
      )}
      {!isChosen && (
        <Button
          icon={layout.value === 'grid' ? 'lines' : 'tiles'}
          kind="quiet"
          label={layout.value === 'grid' ? t.asList : t.asGrid}
          onClick={() => chooseLayout(layout.value === 'grid' ? 'list' : 'grid')}
        />
      )}
      <MenuButton
        label={texts.value.more}
        icon="more"
        items={[
          ...commands.filter(({ isMinor }) => isMinor),
          ...(canWrite
            ? [
                {
                  label: t.paste,
                  icon: 'copy' as const,
                  hasSeparator: isChosen,
                  keys: t.keys.paste,
                  isDisabled: !store.clipboard.value,
                  run: () => paste(store),
                },
              ]
            : []),
          ...(!isChosen && rights.canRead(folder) ? [downloadFolder] : []),
          { label: t.refresh, icon: 'refresh', run: store.refresh },
          { label: t.shortcuts, icon: 'settings', keys: '?', run: shortcuts },
        ]}
      />
      {fields}
    </div>
  )
}
