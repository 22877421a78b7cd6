import { InvalidArgumentError } from 'commander'
import { largestContentId, parseId } from '../lib/ids.ts'
import { readBaseUrl } from '../lib/sites/site-directory.ts'

/** Reads a positive id from a command line. */
export const parsePositiveId = <Id extends number>(text: string): Id => {
  const id = parseId<Id>(text)
  if (id === undefined || id < 1) throw new InvalidArgumentError('It must be a whole number from 1.')
  return id
}

/** Reads the id of a category, a news item or a blog from a command line. */
export const parseContentId = <Id extends number>(text: string): Id => {
  const id = parsePositiveId<Id>(text)
  if (id > largestContentId) throw new InvalidArgumentError(`It must be ${largestContentId} or less.`)
  return id
}

/** For options that may be repeated. */
export const collect =
  <Value>(parse: (text: string) => Value) =>
  (text: string, previous: readonly Value[] = []): Value[] => [...previous, parse(text)]

const longestName = 200

/** Reads a name: some characters, none of them a control character. */
export const parseName = (text: string): string => {
  const name = text.trim().normalize('NFC')
  if (name === '' || name.length > longestName || /\p{Cc}/u.test(name)) {
    throw new InvalidArgumentError(`It must have 1 to ${longestName} characters, and no control characters.`)
  }
  return name
}

const dataCentreId = /^[a-z][a-z0-9-]{0,31}$/

export const parseDataCentreId = (text: string): string => {
  if (!dataCentreId.test(text)) {
    throw new InvalidArgumentError('It must be lower-case letters, digits and hyphens, beginning with a letter.')
  }
  return text
}

/** Reads a base URL; a trailing slash is dropped. */
export const parseBaseUrl = (text: string): string => {
  const url = readBaseUrl(text)
  if (url === undefined)
    throw new InvalidArgumentError('It must be an http or https URL without a query and a password.')
  return url
}

const namedDurations: Readonly<Record<string, number>> = { '4h': 4 * 3600, '2w': 14 * 24 * 3600 }
const longestDuration = 365 * 24 * 3600

/** Reads a lifetime in seconds: `4h` (short-lived), `2w` (long-lived) or `<n>s`. */
export const parseLifetime = (text: string): number => {
  const seconds = namedDurations[text] ?? Number(/^(\d{1,9})s$/.exec(text)?.[1])
  if (!(seconds >= 1 && seconds <= longestDuration)) {
    throw new InvalidArgumentError('It must be 4h, 2w, or seconds such as 90s, a year at most.')
  }
  return seconds
}

const secondsIn: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 24 * 3600,
  w: 7 * 24 * 3600,
  y: 365 * 24 * 3600,
}

/** Reads a span of time in seconds: `30m`, `4h`, `2d`, `1w`. */
export const parseSpan = (text: string): number => {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhdwy])$/.exec(text) ?? []
  const seconds = Number(count) * (secondsIn[unit] ?? 0)
  if (!(seconds >= 1)) throw new InvalidArgumentError('It must be a span such as 30m, 4h, 2d or 1w.')
  return seconds
}
