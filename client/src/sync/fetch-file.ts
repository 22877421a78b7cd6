import { constants, renameSync } from 'node:fs'
import { access, chmod, type FileHandle, link, lstat, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { type FileVersion, readBytes } from '../file-bytes.ts'
import type { Files } from '../files.ts'
import { systemCodeOf } from './disk-errors.ts'
import { createFingerprint } from './fingerprint.ts'
import { isBuiltIn, isInStateFolder, stateFolder } from './ignored.ts'
import { LocalRefusal } from './local-refusal.ts'
import { isBelow } from './local-tree.ts'
import { type Fingerprint, isSame } from './plan.ts'
import { temporaryName } from './temporary.ts'

interface Wanted extends FileVersion {
  readonly fingerprint?: Fingerprint
}

/** This fingerprint is the MD5 of the whole file. Other fingerprints depend on the parts. */
const isWholeMd5 = (form: string): boolean => /^[\da-f]{32}$/.test(form)

/**
 * Creates missing folders. Refuses a path that leads out of the root. Also refuses one that leads to an ignored folder,
 * as a symbolic link or a short name of Windows (`GIT~1`) does.
 */
const folderFor = async (root: string, path: string): Promise<string> => {
  const parts = path.split('/').slice(0, -1)
  let folder = root
  for (const part of parts) {
    const expected = join(folder, part)
    await mkdir(expected).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    folder = await realpath(expected).catch(() => '')
    if (!isBelow(root, folder))
      throw new LocalRefusal(
        `${path} was not written: a symbolic link in its path leads out of the folder, or nowhere. Remove the link.`,
      )
    const place = relative(root, folder).replaceAll(sep, '/')
    if (folder !== expected && (isInStateFolder(place) || (isBuiltIn(place) && !isBuiltIn(path))))
      throw new LocalRefusal(
        `${path} was not written: a link or a short name in its path leads to ${place}, which is always ignored. ` +
          'Remove the link, or rename the folder of the site.',
      )
  }
  return folder
}

export const writeTo = async (temporary: string, write: (file: FileHandle) => Promise<void>): Promise<void> => {
  const file = await open(temporary, 'wx', 0o666)
  try {
    await write(file)
    // A power cut must not leave an empty file, which a push would send to the site.
    await file.datasync()
  } finally {
    await file.close()
  }
}

export interface Target {
  readonly root: string
  readonly path: string
  /**
   * The file that the download replaces, and a check that nobody has changed it. If undefined, no file may exist here.
   */
  readonly replaces?: { readonly location: string; readonly isUnmodified: () => boolean } | undefined
}

/**
 * Downloads a file and puts it in its place complete, in one step. Replaces only the expected state. Errors:
 * `ServiceError`; `LocalRefusal`; those of `node:fs`.
 */
export const fetchFile = async (
  files: Files,
  wanted: Wanted,
  { root, path, replaces }: Target,
  onBytes: (count: number) => void,
  signal?: AbortSignal,
): Promise<Fingerprint> => {
  await mkdir(join(root, stateFolder)).catch((error: unknown) => {
    if (systemCodeOf(error) !== 'EEXIST') throw error
  })
  const temporary = join(root, stateFolder, temporaryName())
  const fingerprint = createFingerprint()
  try {
    await writeTo(temporary, async (file) => {
      for await (const bytes of readBytes(files, wanted, signal)) {
        fingerprint.add(bytes)
        await file.writeFile(bytes)
        onBytes(bytes.length)
      }
    })
    const received = fingerprint.finish()
    if (wanted.fingerprint?.some(isWholeMd5) && !isSame(wanted.fingerprint, received))
      throw new LocalRefusal(`The bytes of ${path} arrived damaged, so nothing was written. Repeat the command.`)
    const location = replaces?.location ?? join(await folderFor(root, path), basename(path))
    if (replaces) {
      const there = await stat(location).catch(() => undefined)
      await access(dirname(location), constants.W_OK)
      if (there) await chmod(temporary, there.mode & 0o777)
      if (!replaces.isUnmodified()) throw new LocalRefusal(`${path} changed in the meantime. Repeat the command.`, true)
      // After the check, everything runs synchronously, so that nobody can write in between.
      renameSync(temporary, location)
    } else await placeNew(temporary, location, path)
    return received
  } finally {
    await rm(temporary, { force: true })
  }
}

const occupantOf = async (location: string): Promise<string> => {
  const there = await lstat(location).catch(() => undefined)
  if (there?.isSymbolicLink()) return 'a symbolic link'
  if (there?.isDirectory()) return 'a folder'
  return 'a file that is new, or has the same name on this disk (for example in another case)'
}

/**
 * Unlike a rename, a link never replaces a file. On a disk without links, whose systems give different error codes, a
 * check comes before the rename.
 */
export const placeNew = async (temporary: string, location: string, path: string): Promise<void> => {
  try {
    await link(temporary, location)
  } catch (error) {
    const isTaken = systemCodeOf(error) === 'EEXIST' || (await lstat(location).catch(() => undefined)) !== undefined
    if (!isTaken) return rename(temporary, location)
    throw new LocalRefusal(
      `${path} was not written: its place is taken by ${await occupantOf(location)}. Rename the file or folder ` +
        'there, then repeat.',
      true,
    )
  }
}
