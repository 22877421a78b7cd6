import { useLayoutEffect, useRef } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { Button } from '../parts/button.tsx'
import { focusContent } from '../parts/focus.ts'
import { MenuButton } from '../parts/menu.tsx'
import { texts } from '../texts/texts.ts'
import { commandsFor, paste } from './commands.ts'
import { useFileDialogs } from './file-dialogs.tsx'
import { useFiles } from './files-context.ts'

const ChosenBar = () => {
  const { store } = useFiles()
  const { client } = usePage()
  const t = texts.value.files
  const commands = commandsFor(store, client)
  const bar = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const shown = bar.current
    return () => {
      if (shown?.contains(document.activeElement)) focusContent()
    }
  }, [])
  return (
    <div ref={bar} class="bar is-chosen" role="toolbar" aria-label={t.chosen(store.folder.chosen.value.length)}>
      <Button icon="close" kind="quiet" label={t.chooseNothing} onClick={store.folder.chooseNothing} />
      <span class="bar-count" role="status">
        {t.chosen(store.folder.chosen.value.length)}
      </span>
      {commands
        .filter(({ isMinor }) => !isMinor)
        .map(({ label, icon, run }) => (
          <Button key={label} {...(icon && { icon })} kind="quiet" title={label} onClick={run}>
            <span class="bar-label">{label.replace(/\s?…$/, '')}</span>
          </Button>
        ))}
      <MenuButton label={texts.value.more} icon="more" items={commands.filter(({ isMinor }) => isMinor)} />
    </div>
  )
}

/** Search, upload and what else concerns the folder as a whole. */
export const Toolbar = () => {
  const { store, uploads } = useFiles()
  const t = texts.value.files
  const { fields, choose } = useFileDialogs((given) => uploads.add(given, store.folder.path.value))
  if (store.folder.chosen.value.length > 0) return <ChosenBar />
  const newFolder = () => {
    store.dialog.value = { kind: 'newFolder', path: store.folder.path.value }
  }
  const deleted = () => {
    store.dialog.value = { kind: 'deleted', path: store.folder.path.value }
  }
  return (
    <div class="bar">
      <input
        type="search"
        class="bar-search"
        aria-label={t.search}
        placeholder={t.searchShort}
        value={store.folder.search.value}
        onInput={({ currentTarget }) => {
          store.folder.search.value = currentTarget.value
        }}
      />
      <Button icon="plus" title={t.newFolder} onClick={newFolder}>
        <span class="bar-label">{t.newFolder}</span>
      </Button>
      <Button icon="upload" kind="primary" onClick={() => choose('files')}>
        {t.upload}
      </Button>
      <MenuButton
        label={texts.value.more}
        icon="more"
        items={[
          { label: t.uploadFiles, icon: 'upload', run: () => choose('files') },
          { label: t.uploadFolder, icon: 'folder', run: () => choose('folder') },
          {
            label: t.paste,
            icon: 'copy',
            keys: t.keys.paste,
            isDisabled: !store.clipboard.value,
            run: () => paste(store),
          },
          { label: t.deleted, icon: 'restore', run: deleted },
          { label: t.refresh, icon: 'refresh', run: store.refresh },
        ]}
      />
      {fields}
    </div>
  )
}
