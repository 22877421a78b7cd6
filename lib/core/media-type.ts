const token = '[!#$&^_.+0-9A-Za-z-]{1,64}'
const typed = new RegExp(`^\\s*(${token}/${token})[ \\t]*(?:;|$)`)

/** The media type of a `Content-Type`, in lower case and without parameters. Undefined if it is malformed. */
export const mediaType = (header: string | undefined): string | undefined =>
  typed.exec(header ?? '')?.[1]?.toLowerCase()
