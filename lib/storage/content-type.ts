import { lookup } from 'mrmime'

const fallback = 'application/octet-stream'

/** The media type of a file: what the extension of its name says, else what came with it (decisions.md, section 5). */
export const contentTypeOf = (name: string, declared?: string): string => {
  const dot = name.lastIndexOf('.')
  return (dot >= 0 ? lookup(name.slice(dot + 1)) : undefined) ?? declared ?? fallback
}
