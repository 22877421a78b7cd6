/** Escapes control characters, which could move the cursor of a terminal. */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    const short = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character]
    return short ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
