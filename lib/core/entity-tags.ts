/** A tag of a state, without its quotes (RFC 9110, section 8.8.3). A weak one says less than that every byte is the same. */
interface EntityTag {
  readonly tag: string
  readonly isWeak: boolean
}

/** What `If-Match` or `If-None-Match` names: any state at all, or those with one of these tags. */
export type TagList = '*' | readonly EntityTag[]

/** How many tags one header may have. */
const mostTags = 100

/** One tag or none, up to the comma behind it: a list may have empty places (RFC 9110, section 5.6.1). */
const place = /(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,[ \t]*|$)/y

/** Reads `If-Match` or `If-None-Match`. Undefined when it is not well-formed, or has no tag at all, or more than 100. */
export const readTags = (header: string): TagList | undefined => {
  const text = header.trim()
  if (text === '*') return '*'
  const tags: EntityTag[] = []
  for (place.lastIndex = 0; place.lastIndex < text.length; ) {
    const found = place.exec(text)
    if (!found) return undefined
    const [, weak, tag] = found
    if (tag !== undefined) tags.push({ tag, isWeak: weak !== undefined })
  }
  return tags.length > 0 && tags.length <= mostTags ? tags : undefined
}

/** The strong comparison, of `If-Match`: a weak tag is like no other. */
export const isStronglyIn = (tags: readonly EntityTag[], tag: string): boolean =>
  tags.some((one) => !one.isWeak && one.tag === tag)

/** The weak comparison, of `If-None-Match`. */
export const isWeaklyIn = (tags: readonly EntityTag[], tag: string): boolean => tags.some((one) => one.tag === tag)
