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
