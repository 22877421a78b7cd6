import { mimes } from 'mrmime'
import { isReserved } from './path.ts'

const templatesFolders = ['Templates']

const isBelowTemplates = (path: string) => isReserved(templatesFolders, path.slice(0, Math.max(path.indexOf('/'), 0)))

export const isPage = (path: string): boolean => /\.html?$/i.test(path) && !isBelowTemplates(path)

export const isTemplate = (path: string): boolean => /\.(?:html?|dwt)$/i.test(path) && isBelowTemplates(path)

const fallback = 'application/octet-stream'

const typeByName = (name: string): string | undefined => {
  const dot = name.lastIndexOf('.')
  const extension = name
    .slice(dot + 1)
    .trim()
    .toLowerCase()
  return dot >= 0 && Object.hasOwn(mimes, extension) ? mimes[extension] : undefined
}

/** The type by the extension of the name, or else the declared type (S-35). */
export const contentTypeOf = (name: string, declared?: string): string => typeByName(name) ?? declared ?? fallback

const plain = /[^\x20-\x7e]|["\\%]/gu

// RFC 8187: some characters that `encodeURIComponent` leaves unchanged must be encoded too.
const encoded = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** A header that makes a browser save the file under its name (RFC 6266, appendix D). */
export const asAttachment = (name: string): string => {
  const simple = name.replaceAll(plain, '_')
  const exact = simple === name ? '' : `; filename*=UTF-8''${encoded(name)}`
  return `attachment; filename="${simple}"${exact}`
}
