const part = '[!#$&^_.+0-9A-Za-z-]{1,64}'
const typeShape = new RegExp(`^\\s*(${part}/${part})[ \\t]*(?:;|$)`)

/** The media type of a `Content-Type`, in lower case and without parameters. Undefined if it is malformed. */
export const mediaType = (header: string | undefined): string | undefined =>
  typeShape.exec(header ?? '')?.[1]?.toLowerCase()

interface EntityTag {
  readonly tag: string
  readonly isWeak: boolean
}

export type TagList = '*' | readonly EntityTag[]

const mostTags = 100

// Matches at most one tag, up to the next comma, because a list may have empty items (RFC 9110, section 5.6.1).
const listItem = /(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,[ \t]*|$)/y

/** Undefined for a malformed header, an empty list, or more than 100 tags. */
export const readTags = (header: string): TagList | undefined => {
  const text = header.trim()
  if (text === '*') return '*'
  const tags: EntityTag[] = []
  for (listItem.lastIndex = 0; listItem.lastIndex < text.length; ) {
    const found = listItem.exec(text)
    if (!found) return undefined
    const [, weak, tag] = found
    if (tag !== undefined) tags.push({ tag, isWeak: weak !== undefined })
  }
  return tags.length > 0 && tags.length <= mostTags ? tags : undefined
}

// Strong comparison (RFC 9110, section 8.8.3): a weak tag never matches.
export const isStronglyIn = (tags: readonly EntityTag[], tag: string): boolean =>
  tags.some((one) => !one.isWeak && one.tag === tag)

export const isWeaklyIn = (tags: readonly EntityTag[], tag: string): boolean => tags.some((one) => one.tag === tag)

export const entityTagOf = ({ version }: { readonly version: string }): string => `"${version}"`

// The tag of a file under another media type than its own. The bytes are the same, but the representation differs
// (S-67).
const typed = (version: string): string => `${version}.typed`

export const typedTagOf = ({ version }: { readonly version: string }): string =>
  entityTagOf({ version: typed(version) })

/** True if the tags name this state of a file, whatever its media type was at the time of reading. */
export const matches = (version: string, tags: readonly EntityTag[], compare: typeof isStronglyIn): boolean =>
  compare(tags, version) || compare(tags, typed(version))
