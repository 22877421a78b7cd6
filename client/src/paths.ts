import type { Entry } from './generated/types.gen.ts'
import { ServiceError } from './service-error.ts'

export const joinPath = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

export const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '')

/**
 * Percent-encodes a path. Refuses the segments "." and "..", as the service does, because URL parsers would resolve
 * them.
 */
export const encode = (path: string): string => {
  const parts = partsOf(path)
  if (parts.some((part) => part === '.' || part === '..')) {
    throw new ServiceError({
      status: 400,
      code: 104015,
      message: `The path "${path}" contains "." or "..". Write the path without them.`,
    })
  }
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('')
}

/** Returns the path in the spelling of the site. Reads ignore case, but conditional changes do not. */
export const pathOf = ({ links }: Pick<Entry, 'links'>): string | undefined => {
  const uri = links.find(({ rel }) => rel === 'storage')?.uri
  const [, path] = /\/sites\/\d+\/storage\/(.*)$/.exec(uri ? new URL(uri).pathname : '') ?? []
  return path?.split('/').map(decodeURIComponent).join('/')
}

export const hasExactSpelling = (path: string, entry: Pick<Entry, 'links'>): boolean =>
  (pathOf(entry) ?? path) === partsOf(path).join('/').normalize('NFC')
