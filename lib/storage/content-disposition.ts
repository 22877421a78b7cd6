const plain = /[^\x20-\x7e]|["\\%]/gu

/** RFC 8187: all but `attr-char` is percent-encoded, these among them, which `encodeURIComponent` leaves alone. */
const encoded = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/**
 * The `Content-Disposition` that has a file saved under its name, whatever the name is (RFC 6266, appendix D): in plain
 * ASCII for all, and exactly, where that is not the same.
 */
export const asAttachment = (name: string): string => {
  const simple = name.replaceAll(plain, '_')
  const exact = simple === name ? '' : `; filename*=UTF-8''${encoded(name)}`
  return `attachment; filename="${simple}"${exact}`
}
