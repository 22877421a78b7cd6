import { locale } from '../texts/texts.ts'

const units = ['kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
/** Creating a format is expensive, so each format is created once per language. */
const memoize = <Format>(make: (locale: string, what: string) => Format) => {
  const made = new Map<string, Format>()
  return (what: string): Format => {
    const key = `${locale.value} ${what}`
    const format = made.get(key) ?? make(locale.value, what)
    made.set(key, format)
    return format
  }
}

const wholeSize = memoize((tag, unit) => new Intl.NumberFormat(tag, { style: 'unit', unit, maximumFractionDigits: 0 }))
const exactSize = memoize((tag, unit) => new Intl.NumberFormat(tag, { style: 'unit', unit, maximumFractionDigits: 1 }))
const moment = memoize((tag, what) => {
  const time = what === 'day' ? { timeZone: 'UTC' } : ({ timeStyle: what === 'exact' ? 'medium' : 'short' } as const)
  return new Intl.DateTimeFormat(tag, { dateStyle: 'medium', ...time })
})

/** Writes a size such as "1.4 MB". A kilobyte has 1,000 bytes. */
export const formatSize = (bytes: number): string => {
  if (bytes < 1000) return `${formatNumber(bytes)} B`
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return (value < 10 ? exactSize : wholeSize)(units[power - 1] ?? 'kilobyte').format(value)
}

const formatNumber = (value: number): string => value.toLocaleString(locale.value)

/**
 * Writes a moment in the time zone of the user. `exact` adds seconds. Days, and dates of the service without a zone,
 * are in UTC.
 */
export const formatMoment = (iso: string, precision: 'short' | 'exact' = 'short'): string => {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(iso)
  const date = new Date(isDay || /Z$|[+-]\d\d:?\d\d$/.test(iso) ? iso : `${iso}Z`)
  return Number.isNaN(date.getTime()) ? iso : moment(isDay ? 'day' : precision).format(date)
}

/** Writes an approximate time, such as "12 sec", "3 min" or "2 hr". `seconds` may have a fraction. */
export const formatDuration = (seconds: number): string => {
  const [value, unit] =
    seconds < 60 ? [seconds, 'second'] : seconds < 3600 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour']
  return Math.max(1, Math.round(value)).toLocaleString(locale.value, { style: 'unit', unit, unitDisplay: 'short' })
}

export const withoutDots = (label: string): string => label.replace(/\s?…$/, '')
