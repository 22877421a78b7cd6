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
