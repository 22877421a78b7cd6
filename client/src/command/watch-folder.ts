import { type FSWatcher, lstatSync, readdirSync, realpathSync, watch } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { joinPath } from '../paths.ts'
import { isInStateFolder } from '../sync/ignored.ts'

interface Listeners {
  /** Receives the path of a file or folder that may have changed, below the watched folder. */
  readonly onChange: (path: string) => void
  readonly onError: (error: unknown) => void
  /** The folder itself may have been removed or replaced. Its own watch reports this, with its name as the entry. */
  readonly onRootChange: () => void
}

/**
 * The recursive watch of Node on Linux watches each file. It misses the changes of a file that a rename has put in the
 * place of another file, as editors do. The watch of a folder reports the changes of all files in the folder.
 */
const watchEachFolder = (root: string, signal: AbortSignal, { onChange, onError, onRootChange }: Listeners): void => {
  const watchers = new Map<string, FSWatcher>()
  const leave = (folder: string): void => {
    if (!watchers.has(folder)) return
    for (const [path, watcher] of watchers) {
      if (path !== folder && !path.startsWith(`${folder}/`)) continue
      watcher.close()
      watchers.delete(path)
    }
  }
  const enter = (folder: string): void => {
    const place = join(root, folder)
    const watcher = watch(place, (event, name) => {
      if (name === null) return
      const path = joinPath(folder, name)
      if (event === 'rename') {
        leave(path)
        tryToEnter(path)
        if (path === basename(root)) onRootChange()
      }
      onChange(path)
    })
    watchers.set(folder, watcher.on('error', onError))
    for (const entry of readdirSync(place, { withFileTypes: true }))
      if (entry.isDirectory()) tryToEnter(joinPath(folder, entry.name))
  }
  const tryToEnter = (folder: string): void => {
    try {
      const isFolder = lstatSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory()
      if (isFolder && !isInStateFolder(folder) && !watchers.has(folder)) enter(folder)
    } catch (error) {
      onError(error)
    }
  }
  signal.addEventListener('abort', () => watchers.forEach((watcher) => void watcher.close()), { once: true })
  tryToEnter('')
}

/** Watches a folder with everything below it until the signal aborts. Errors: those of `node:fs`. */
export const watchFolder = (directory: string, signal: AbortSignal, listeners: Listeners): void => {
  const root = realpathSync(directory)
  if (process.platform === 'linux') watchEachFolder(root, signal, listeners)
  else
    watch(root, { recursive: true, signal }, (_, name) => {
      if (name !== null) listeners.onChange(name.replaceAll(sep, '/'))
    }).on('error', listeners.onError)
}
