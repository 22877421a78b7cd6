import type { FoundItem, SiteClient } from '../../client/src/index.ts'
import { copyText } from '../parts/copy-text.ts'
import type { MenuItem } from '../parts/menu.tsx'
import { setter } from '../parts/setter.ts'
import { attemptOrNotify, notify } from '../parts/toasts.tsx'
import { goTo, linkTo } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import { nameOf, parentOf, partsOf } from '../uploads/paths.ts'
import { download } from './download.ts'
import type { FilesPage } from './files-context.ts'
import type { FilesStore } from './files-store.ts'
import { relocateAndNotify } from './notified-actions.ts'

interface Entry {
  readonly name: string
  readonly type: 'file' | 'folder'
}

const placeOf = (folder: string, { name, type }: Entry) =>
  type === 'folder' ? { path: [...partsOf(folder), name] } : { path: partsOf(folder), query: { file: name } }

const openEntry = (store: FilesStore, entry: Entry): void => goTo(placeOf(store.folder.path.value, entry))

export const linkOf = (folder: string, entry: Entry): string => linkTo({ view: 'files', ...placeOf(folder, entry) })

/** Opens the folder of a found file, with the file selected and its details shown. */
export const openFound = (
  { folder, search }: FilesStore,
  keyboard: FilesPage['keyboard'],
  { path, type }: Pick<FoundItem, 'path' | 'type'>,
): void => {
  search.type('')
  // The list receives the focus when it is shown again.
  keyboard.isInList = true
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  if (type === 'folder') goTo({ path: partsOf(path), query: {} })
  else {
    if (parentOf(path) === folder.path.value) folder.choose(nameOf(path), 'alone')
    goTo({ path: partsOf(parentOf(path)), query: { file: nameOf(path) } })
  }
}

export const downloadFile = (client: SiteClient, path: string): void => {
  attemptOrNotify(() => download(client, path))
}

const copyLines = (lines: readonly string[], text: string): void => {
  const copied = lines.join('\n')
  const copy = async () => {
    await copyText(copied)
    notify(text)
  }
  attemptOrNotify(copy, `${copied}\n`)
}

export const paste = (store: FilesStore): void => {
  const held = store.clipboard.value
  const folder = store.folder.path.value
  // Files that were cut in this folder are already here.
  if (!held || (held.how === 'move' && parentOf(held.paths[0] ?? '') === folder)) return
  relocateAndNotify(store, held.how, held.paths, folder)
}

export interface Command extends MenuItem {
  /** This command is shown only in the menu. */
  readonly isMinor?: boolean
}

const canCopy = ({ store, rights }: FilesPage): boolean =>
  rights.has('files:write') && store.chosenPaths().every(rights.canRead)

/** One file is downloaded as it is. Everything else becomes a zip. */
const downloadOf = ({ store, rights }: FilesPage, client: SiteClient): readonly Command[] => {
  const t = texts.value.files
  const [only, ...others] = store.folder.chosen.value
  const paths = store.chosenPaths()
  const [path] = paths
  if (path === undefined || !paths.every(rights.canRead)) return []
  if (only?.type === 'file' && others.length === 0)
    return [{ label: t.download, icon: 'download', run: () => downloadFile(client, path) }]
  const run = setter(store.dialog, { kind: 'zip', paths })
  return [{ label: t.zip.action, icon: 'download', run }]
}

/** Returns only the commands that the service permits (K-27). */
export const commandsFor = (page: FilesPage, client: SiteClient): readonly Command[] => {
  const { store, rights } = page
  const t = texts.value.files
  const chosen = store.folder.chosen.value
  const paths = store.chosenPaths()
  const [only] = chosen
  const [path] = paths
  if (!only || path === undefined) return []
  const isOne = chosen.length === 1
  const folder = store.folder.path.value
  const canWrite = rights.canWrite(folder)
  const show = (dialog: NonNullable<FilesStore['dialog']['value']>) => setter(store.dialog, dialog)
  const open: Command = {
    label: only.type === 'folder' ? t.open : t.details,
    icon: only.type,
    keys: t.keys.open,
    isMinor: true,
    run: () => openEntry(store, only),
  }
  const rename: Command = { label: t.rename, icon: 'rename', keys: 'F2', run: show({ kind: 'rename', path }) }
  const move: Command = { label: t.move, icon: 'move', run: show({ kind: 'relocate', how: 'move', paths }) }
  const copy: Command = { label: t.copy, icon: 'copy', run: show({ kind: 'relocate', how: 'copy', paths }) }
  const remove: Command = {
    label: t.remove,
    icon: 'remove',
    keys: t.keys.remove,
    isDangerous: true,
    hasSeparator: true,
    run: show({ kind: 'remove', paths }),
  }
  const copyPaths = () =>
    copyLines(
      paths.map((each) => `/${each}`),
      t.pathCopied,
    )
  const copyLinks = () =>
    copyLines(
      chosen.map((each) => new URL(linkOf(folder, each), location.href).href),
      t.linkCopied,
    )
  return [
    isOne && open,
    ...downloadOf(page, client),
    isOne && canWrite && rename,
    canWrite && move,
    canCopy(page) && copy,
    { label: t.copyPath, icon: 'copy', isMinor: true, run: copyPaths } as const,
    { label: t.copyLink, icon: 'link', isMinor: true, run: copyLinks } as const,
    canWrite && remove,
  ].filter((command) => command !== false)
}

/** True if the key was a command. */
export const runKey = (page: FilesPage, event: KeyboardEvent): boolean => {
  const { store, rights } = page
  const canWrite = rights.canWrite(store.folder.path.value)
  const paths = store.chosenPaths()
  const [path] = paths
  const isCommand = event.ctrlKey || event.metaKey
  const command: Readonly<Record<string, () => unknown>> = {
    x: () => canWrite && store.hold('move'),
    c: () => canCopy(page) && store.hold('copy'),
    v: () => canWrite && paste(store),
    a: () => store.folder.chooseAll(),
  }
  const plain: Readonly<Record<string, () => void>> = {
    Escape: () => store.folder.clearSelection(),
    Backspace: () => {
      if (store.folder.path.value !== '') goTo({ path: partsOf(parentOf(store.folder.path.value)) })
    },
    Delete: () => {
      if (canWrite && paths.length > 0) store.dialog.value = { kind: 'remove', paths }
    },
    '?': setter(store.dialog, { kind: 'shortcuts' }),
    F2: () => {
      if (canWrite && path !== undefined && paths.length === 1) store.dialog.value = { kind: 'rename', path }
    },
    Enter: () => {
      const entry = store.folder.shown.value.find(({ name }) => name === store.folder.selection.value.active)
      if (entry) openEntry(store, entry)
    },
  }
  const run = isCommand ? command[event.key.toLowerCase()] : plain[event.key]
  run?.()
  return run !== undefined
}

export const folderName = (path: string): string => (path === '' ? texts.value.files.root : nameOf(path))
