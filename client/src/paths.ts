import type { Entry } from './generated/types.gen.ts'
import { refusal } from './service-error.ts'

export const joinPath = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

export const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '')

/** Percent-encodes a name. Refuses ".", ".." and an empty name, because URL parsers would read another address. */
export const encodeName = (name: string, path = name): string => {
  if (/^\.{0,2}$/.test(name))
    throw refusal(400, 104015, `"${path}" is empty, or contains "." or "..". Write it without them.`)
  return encodeURIComponent(name)
}

export const encode = (path: string): string =>
  partsOf(path)
    .map((part) => `/${encodeName(part, path)}`)
    .join('')

/** Returns the path in the spelling of the site. Reads ignore case, but conditional changes do not. */
export const pathOf = ({ links }: Pick<Entry, 'links'>): string | undefined => {
  const uri = links.find(({ rel }) => rel === 'storage')?.uri
  const [, path] = /\/sites\/\d+\/storage\/(.*)$/.exec(uri ? new URL(uri).pathname : '') ?? []
  return path?.split('/').map(decodeURIComponent).join('/')
}

export const hasExactSpelling = (path: string, entry: Pick<Entry, 'links'>): boolean =>
  (pathOf(entry) ?? path) === partsOf(path).join('/').normalize('NFC')
