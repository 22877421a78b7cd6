// The order of code points differs from the order of code units only for surrogates.
const rankOf = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800)

/** Compares in the order of code points, which is the order of keys in the stores. */
export const compareText = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const difference = a.charCodeAt(at) - b.charCodeAt(at)
    if (difference !== 0) return rankOf(a.charCodeAt(at)) - rankOf(b.charCodeAt(at))
  }
  return a.length - b.length
}
