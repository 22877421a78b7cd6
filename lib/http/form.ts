import { parse } from 'qs-esm'

const mostParameters = 2_000
const bounds = { parameterLimit: mostParameters, arrayLimit: mostParameters, depth: 3 }

/** Reads names with brackets, as jQuery and PHP write them: `items[0][objectId]=1`. Throws an Error with the reason. */
export const readForm = (text: string): unknown => {
  // Without this check, the parser would silently drop the parameters beyond its limit.
  if (text.split('&').length > mostParameters) throw new Error(`it has more than ${mostParameters} names`)
  return parse(text, bounds)
}
