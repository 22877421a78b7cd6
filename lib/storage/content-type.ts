import { mimes } from 'mrmime'

const fallback = 'application/octet-stream'

/** What the extension of a name says. (The package's own lookup also finds what every object has, as if `constructor` were an extension.) */
const typeByName = (name: string): string | undefined => {
  const dot = name.lastIndexOf('.')
  const extension = name
    .slice(dot + 1)
    .trim()
    .toLowerCase()
  return dot >= 0 && Object.hasOwn(mimes, extension) ? mimes[extension] : undefined
}

/** The media type of a file: what the extension of its name says, else what came with it (decisions.md, section 5). */
export const contentTypeOf = (name: string, declared?: string): string => typeByName(name) ?? declared ?? fallback
