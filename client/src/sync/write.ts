import { unlinkSync } from 'node:fs'
import { lstat, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { joinPath } from '../paths.ts'
import { fetchFile } from './fetch-file.ts'
import { LocalRefusal } from './local-refusal.ts'
import { isUnmodified, type LocalFile } from './local-tree.ts'
import type { Fingerprint, Step } from './plan.ts'
import type { Direction, Prepared, SyncOptions } from './prepare.ts'
import type { RemoteFile } from './remote-tree.ts'
import { FolderInTheWay, sendFile } from './send-file.ts'

export type Writing = Step & { readonly action: 'create' | 'replace' | 'remove' }

/** Some disks ignore the case and the Unicode form of names. */
const normalise = (location: string): string => location.normalize('NFC').toLowerCase()

const removeLocal = async (root: string, path: string, file: LocalFile): Promise<void> => {
  const place = join(root, path)
  const isLink = (await lstat(place).catch(() => undefined))?.isSymbolicLink() === true
  // The same file also exists under another path, where it may still be needed.
  if (!isLink && normalise(file.location) !== normalise(place))
    throw new LocalRefusal(
      `${path} is inside a folder that is a symbolic link. Remove the file there, or remove the link.`,
    )
  if (!isUnmodified(file)) throw new LocalRefusal(`${path} changed in the meantime. Repeat the command.`, true)
  const removed = isLink ? place : file.location
  unlinkSync(removed)
  for (let folder = dirname(removed); folder !== root && folder.startsWith(root); folder = dirname(folder)) {
    try {
      await rmdir(folder)
    } catch {
      return
    }
  }
}

export const createWriter = (
  direction: Direction,
  { client: { files }, signal, removes }: SyncOptions,
  prepared: Prepared,
) => {
  const { root, folder, local, remote, state, save } = prepared
  const push = async (
    path: string,
    file: LocalFile | undefined,
    there: RemoteFile | undefined,
    onBytes: (sent: number) => void,
  ) => {
    const place = joinPath(folder, path)
    if (!file) {
      if (there) await files.remove(place, { etag: there.etag })
      return undefined
    }
    const onProgress = ({ sent }: { sent: number }) => onBytes(sent)
    const sending = { path: place, etag: there?.etag, onProgress, signal, uploads: state.uploads, save }
    try {
      return await sendFile(files, file, sending)
    } catch (error) {
      if (!(removes && error instanceof FolderInTheWay)) throw error
      await files.remove(place, { force: false }).catch(() => {
        throw error
      })
      return sendFile(files, file, sending)
    }
  }
  const pull = async (
    path: string,
    here: LocalFile | undefined,
    file: RemoteFile | undefined,
    onBytes: (sent: number) => void,
  ) => {
    if (!file) {
      if (here) await removeLocal(root, path, here)
      state.remembered.delete(path)
      return undefined
    }
    let received = 0
    const replaces = here && { location: here.location, isUnmodified: () => isUnmodified(here) }
    const wanted = { path: joinPath(folder, path), etag: file.etag, size: file.size, fingerprint: file.fingerprint }
    const took = (count: number) => {
      received += count
      onBytes(received)
    }
    state.remembered.delete(path)
    return fetchFile(files, wanted, { root, path, replaces }, took, signal)
  }
  return ({ path, action }: Writing, onBytes: (sent: number) => void): Promise<Fingerprint | undefined> => {
    const [here, there] = [local.get(path), remote.get(path)]
    const isRemoval = action === 'remove'
    return direction === 'push'
      ? push(path, isRemoval ? undefined : here, there, onBytes)
      : pull(path, here, isRemoval ? undefined : there, onBytes)
  }
}
