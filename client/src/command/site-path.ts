import { ServiceError, type SiteClient } from '../index.ts'
import { joinPath, pathOf } from '../paths.ts'
import { isMissing } from '../service-error.ts'
import { UsageError } from './failure.ts'

/** Removes extra slashes and dots; the root is empty. */
export const sitePath = (text: string): string =>
  text
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')

export const nameOf = (path: string): string => sitePath(path).split('/').at(-1) ?? ''

export const pathBelowRoot = (
  text: string,
  sentence = 'Name a file or a folder. The root of a site cannot be changed.',
): string => {
  const path = sitePath(text)
  if (path === '') throw new UsageError(sentence)
  return path
}

interface OfSite {
  readonly client: SiteClient
}

export const find = async ({ client }: OfSite, path: string) => {
  if (path === '') return { type: 'folder', path }
  try {
    const entry = await client.files.stat(path)
    return { type: entry.type, path: pathOf(entry) ?? path, etag: entry.etag }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const missing = (path: string, advice: string, other = ''): ServiceError =>
  new ServiceError({ status: 404, code: 104001, message: `This site has no "${path}"${other}. ${advice}`, path })

export const findExactly = async ({ client }: OfSite, path: string) => {
  const entry = await client.files.stat(path).catch((error: unknown) => {
    if (!isMissing(error)) throw error
    throw missing(path, 'Check the path.')
  })
  const written = pathOf(entry) ?? path
  if (written === path.normalize('NFC')) return entry
  throw missing(path, 'Use that spelling.', `, but "${written}"`)
}

/** The folders of a new path in the spelling of the site, because reads ignore case, but conditional writes do not. */
export const newPath = async (site: OfSite, path: string): Promise<string> => {
  const above = path.split('/').slice(0, -1).join('/')
  if (above === '') return path
  const folder = await find(site, above)
  return joinPath(folder?.path ?? (await newPath(site, above)), nameOf(path))
}

/** If only the case of a folder name changes, this is a rename, and not a move into the folder itself. */
export const caseRenameTarget = async (site: OfSite, from: string, to: string): Promise<string | undefined> => {
  const path = sitePath(to).normalize('NFC')
  const there = to.endsWith('/') || path === '' ? undefined : await find(site, path)
  if (there?.type !== 'folder' || there.path !== from.normalize('NFC')) return undefined
  const [name, old] = [nameOf(path), nameOf(there.path)]
  return name === old ? undefined : `${there.path.slice(0, -old.length)}${name}`
}

/**
 * The path to which a command writes. For an existing folder, or a path with a final slash, this is a path inside the
 * folder. `replace` is the current state of the target, if it is known.
 */
export const destination = async (site: OfSite, to: string, name: string) => {
  const path = sitePath(to)
  const there = await find(site, path)
  if (there?.type === 'folder') return { path: joinPath(there.path, name), replace: true }
  if (to.endsWith('/')) return { path: await newPath(site, joinPath(path, name)), replace: true }
  if (there?.path === path.normalize('NFC')) return { path, replace: there.etag ?? true }
  return { path: await newPath(site, path), replace: there !== undefined }
}
