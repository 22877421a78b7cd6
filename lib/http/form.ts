import { parse } from 'qs-esm'

/**
 * Reads names with brackets, as jQuery and PHP write them: `items[0][objectId]=1`. A list with an index over 500 becomes
 * an object, because the parser needs time and memory for each free index. Throws an Error with the reason.
 */
export const readForm = (text: string, most = 2_000): unknown => {
  // Without this check, the parser would silently drop the parameters beyond its limit.
  if (text.split('&').length > most) throw new Error(`it has more than ${most} names`)
  return parse(text, { parameterLimit: most, arrayLimit: Math.min(most, 500), depth: 2 })
}
