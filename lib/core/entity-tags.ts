interface EntityTag {
  readonly tag: string
  readonly isWeak: boolean
}

export type TagList = '*' | readonly EntityTag[]

const mostTags = 100

// One tag or none, up to the comma behind it: a list may have empty places (RFC 9110, section 5.6.1).
const place = /(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,[ \t]*|$)/y

/** Undefined when the header is malformed, or has no tag or more than 100. */
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

/** Strong comparison (RFC 9110, section 8.8.3): a weak tag never matches. */
export const isStronglyIn = (tags: readonly EntityTag[], tag: string): boolean =>
  tags.some((one) => !one.isWeak && one.tag === tag)

export const isWeaklyIn = (tags: readonly EntityTag[], tag: string): boolean => tags.some((one) => one.tag === tag)
