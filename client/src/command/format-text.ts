const steering = /[\p{Cc}\u{2028}-\u{202e}\u{2066}-\u{2069}]/gu
const hexOf = (character: string): string => (character.codePointAt(0) ?? 0).toString(16)

/** Escapes control characters, because other people choose the names of files. */
export const escapeControls = (text: string): string =>
  text.replaceAll(steering, (character) => `\\u{${hexOf(character)}}`)

/** A word of a command that a person can paste into a shell. */
export const shellWord = (text: string): string =>
  /^[\w%+,./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

export const jsonOf = (value: object): string =>
  JSON.stringify(value).replaceAll(steering, (character) => `\\u${hexOf(character).padStart(4, '0')}`)

/** Formats a refusal as one JSON object or as text. The error `from` may have a code and a path. */
export const refusalOf = (message: string, isJson: boolean, from?: unknown): string => {
  if (!isJson) return escapeControls(message)
  const { code, path } = Object(from)
  const [known, named] = [typeof code === 'number' && code > 0 ? code : null, typeof path === 'string' ? path : null]
  return jsonOf({ code: known, message, path: named })
}

const units = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** Formats a size as `812 bytes` or `8.2 KB`. */
export const sizeOf = (bytes: number): string => {
  let value = bytes
  let unit = 0
  while (Math.round(value) >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  const shown = unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)
  return shown === 1 ? '1 byte' : `${shown} ${units[unit]}`
}

export const spanOf = (milliseconds: number): string => {
  const seconds = Math.ceil(milliseconds / 1000)
  if (seconds < 90) return `${seconds} s`
  return seconds < 90 * 60 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}
