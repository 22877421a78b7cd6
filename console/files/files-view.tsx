import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { isMissing } from '../../client/src/service-error.ts'
import { usePage } from '../page/context.ts'
import { createNewestRead } from '../page/newest-read.ts'
import { Failure } from '../parts/failure.tsx'
import { Icon } from '../parts/icon.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { notify } from '../parts/toasts.tsx'
import { goTo, route } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import { pathExists } from '../uploads/path-exists.ts'
import { nameOf, parentOf, partsOf } from '../uploads/paths.ts'
import { folderName, runKey } from './commands.ts'
import { Crumbs } from './crumbs.tsx'
import { dragTarget, dropOn } from './drag.ts'
import { FileList } from './file-list.tsx'
import { FilesContext, useFiles } from './files-context.ts'
import { createFilesStore, type FilesStore } from './files-store.ts'
import { layout } from './layout.ts'
import { useListFocus } from './list-focus.ts'
import { Toolbar } from './toolbar.tsx'
import { TreeView } from './tree-view.tsx'

const loadDetails = async () => (await import('./on-demand.ts')).Details
const loadGrid = async () => (await import('./on-demand.ts')).FileGrid
const loadDialog = async () => (await import('./on-demand.ts')).OpenDialog
const loadResults = async () => (await import('./on-demand.ts')).SearchResults

/** The keys for the whole folder also work in an empty folder. */
const Empty = () => {
  const files = useFiles()
  const { store, keyboard, rights } = files
  const t = texts.value.files
  const box = useListFocus<HTMLDivElement>(keyboard)
  return (
    <div
      ref={box}
      class="empty"
      role="group"
      aria-label={t.emptyTitle}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.target === box.current && runKey(files, event)) event.preventDefault()
      }}
    >
      <span class="empty-icon">
        <Icon name="folder" />
      </span>
      <h2>{t.emptyTitle}</h2>
      {rights.canWrite(store.folder.path.value) && <p>{t.emptyHint}</p>}
    </div>
  )
}

const Contents = () => {
  const { store } = useFiles()
  const { entries, failure, isLoading, refresh } = store.folder
  if (store.search.text.value.trim() !== '') return <Loaded load={loadResults} props={{}} />
  const hasEntries = (entries.value?.length ?? 0) > 0
  return (
    <>
      <Failure error={failure.value} onRepeat={refresh} />
      {!entries.value && isLoading.value && (
        <p class="empty" role="status">
          {texts.value.loading}
        </p>
      )}
      {hasEntries && (layout.value === 'grid' ? <Loaded load={loadGrid} props={{}} /> : <FileList />)}
      {entries.value && !hasEntries && <Empty />}
    </>
  )
}

/** Leaves a folder that somebody moved or removed. Unsaved work in a dialog stays until the dialog is closed. */
const useExistingFolder = ({ folder, dialog }: FilesStore) => {
  const { client } = usePage()
  const { run, drop } = useMemo(createNewestRead, [])
  const place = folder.path.value
  const isGone = place !== '' && folder.entries.value && isMissing(folder.failure.value) && !dialog.value
  useEffect(() => {
    if (!isGone) return
    run(async (isNewest) => {
      let parent = parentOf(place)
      while (parent !== '' && !(await pathExists(client, parent))) parent = parentOf(parent)
      if (!isNewest()) return
      goTo({ path: partsOf(parent) }, { replace: true })
      notify(texts.value.files.gone(nameOf(place)))
    })
    return drop
  }, [isGone, folder.failure.value])
}

/** The address follows when no dialog is open, because a dialog does not outlast a change of the address. */
const useSiteSpelling = ({ folder, dialog }: FilesStore) => {
  useLayoutEffect(() => {
    const { path, query } = route.value
    const isOther = folder.path.value !== path.join('/') && !dialog.value
    if (isOther) goTo({ path: partsOf(folder.path.value), query }, { replace: true })
  }, [folder.path.value, dialog.value])
}

export const FilesView = () => {
  const { client, access, live, uploads, rights } = usePage()
  const store = useMemo(() => createFilesStore(() => client), [client])
  const keyboard = useMemo(() => ({ isInList: false }), [store, uploads])
  const files = useMemo(() => ({ store, uploads, rights, keyboard }), [store, uploads, rights, keyboard])
  const shown = route.value
  const place = shown.path.join('/')
  const file = shown.query['file']
  // This effect is synchronous, so that an action on the shown folder never applies to the previous one.
  useLayoutEffect(() => {
    // A dialog belongs to the folder in which it was opened.
    store.dialog.value = undefined
    store.search.type('')
    store.folder.open(place, file)
  }, [place])
  useExistingFolder(store)
  useSiteSpelling(store)
  // Before a new sign-in, or while the service was away, reads may have failed, and the page may have missed changes.
  const lastAccess = useRef(access)
  useEffect(() => {
    if (lastAccess.current !== access) store.refresh()
    lastAccess.current = access
  }, [access])
  useEffect(() => live.subscribe(store.follow), [live, store])
  // Reads the folder again after a pause in the uploads. Until then, the history reports new files.
  const { done } = uploads.totals.value
  useEffect(() => {
    if (done === 0) return
    const timer = setTimeout(store.folder.refresh, 250)
    return () => clearTimeout(timer)
  }, [done])
  // The details always show the only selected entry. This effect is not synchronous, because a link that selects an
  // entry also changes the address. Then this effect changes nothing.
  const [only, ...others] = store.folder.chosen.value
  useEffect(() => {
    if (route.value === shown && file !== undefined && only?.type === 'file' && others.length === 0)
      goTo({ query: { file: only.name } }, { replace: true })
  }, [only?.name, others.length])
  // After Back, the selection follows the details.
  useLayoutEffect(() => {
    const { choose, selection } = store.folder
    if (file !== undefined && !selection.value.chosen.has(file)) choose(file, 'alone')
  }, [file])
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select, dialog *')
      if (event.key === '?' && !isTyping && runKey(files, event)) event.preventDefault()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [files])
  // Loads the scripts of the dialogs early, so that a dialog opens at once and no typed key is lost.
  const preload = () => {
    loadDialog().catch(() => {})
  }
  return (
    <FilesContext.Provider value={files}>
      <div class="files" onFocusIn={preload} onPointerEnter={preload}>
        <TreeView />
        <section class="folder" aria-label={folderName(place)} {...dropOn(place, files)}>
          <div class="folder-head">
            <Crumbs />
            <Toolbar />
          </div>
          <Contents />
          {dragTarget.value === place && <p class="drop-hint">{texts.value.files.dropHere(folderName(place))}</p>}
        </section>
        {file !== undefined && <Loaded load={loadDetails} props={{ name: file }} />}
      </div>
      {store.dialog.value && <Loaded load={loadDialog} props={{}} />}
    </FilesContext.Provider>
  )
}
