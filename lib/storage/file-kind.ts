import { mimes } from 'mrmime'
import { isReserved } from './path.ts'

// S-21.
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

/** By the extension of the name, else as declared (S-35). */
export const contentTypeOf = (name: string, declared?: string): string => typeByName(name) ?? declared ?? fallback

const plain = /[^\x20-\x7e]|["\\%]/gu

// RFC 8187: `encodeURIComponent` leaves some characters alone that must be encoded.
const encoded = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** Makes a browser save the file under its name (RFC 6266, appendix D). */
export const asAttachment = (name: string): string => {
  const simple = name.replaceAll(plain, '_')
  const exact = simple === name ? '' : `; filename*=UTF-8''${encoded(name)}`
  return `attachment; filename="${simple}"${exact}`
}
