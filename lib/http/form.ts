import { parse } from 'qs-esm'

/** A form that holds more than this, or nests deeper, is nobody's. A list with an index beyond them comes out as no list. */
const mostParameters = 2_000
const bounds = { parameterLimit: mostParameters, arrayLimit: mostParameters, depth: 3 }

/** Reads form data whose names have brackets, as jQuery and PHP write it: `items[0][objectId]=1`. Throws an Error that says what is wrong. */
export const readForm = (text: string): unknown => {
  // The reader would leave out the rest in silence.
  if (text.split('&').length > mostParameters) throw new Error(`it has more than ${mostParameters} names`)
  return parse(text, bounds)
}
