import type { Entry } from './generated/types.gen.ts'
import { ServiceError } from './service-error.ts'

/** The parts of a path, as people write it: with a slash or several between them. */
export const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '')

/**
 * The path, percent-encoded. A part of dots alone would be taken for a step by whoever reads URLs: the service refuses
 * it, and so is it here.
 */
export const encode = (path: string): string => {
  const parts = partsOf(path)
  if (parts.some((part) => part === '.' || part === '..')) {
    throw new ServiceError({
      status: 400,
      code: 104015,
      message: `The path "${path}" has a part "." or "..". Write the path without it.`,
    })
  }
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('')
}

/**
 * The path at which something lies, as it is written there: reads find it in other case too, and changes under a
 * condition do not.
 */
export const pathOf = ({ links }: Pick<Entry, 'links'>): string | undefined => {
  const uri = links.find(({ rel }) => rel === 'storage')?.uri
  const [, path] = /\/sites\/\d+\/storage\/(.*)$/.exec(uri ? new URL(uri).pathname : '') ?? []
  return path?.split('/').map(decodeURIComponent).join('/')
}

/** The entry has exactly this spelling, upper and lower case included. */
export const isWritten = (path: string, entry: Pick<Entry, 'links'>): boolean =>
  (pathOf(entry) ?? path) === partsOf(path).join('/').normalize('NFC')
