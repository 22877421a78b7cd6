import qs from 'qs'

/** A form that holds more than this, or nests deeper, is nobody's. */
const bounds = { parameterLimit: 2_000, arrayLimit: 2_000, depth: 3, throwOnLimitExceeded: true }

/** Reads form data whose names have brackets, as jQuery and PHP write it: `items[0][objectId]=1`. Throws an Error that says what is wrong. */
export const readForm = (text: string): unknown => qs.parse(text, bounds)
