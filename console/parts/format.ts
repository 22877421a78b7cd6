import { locale } from '../texts/texts.ts'

const units = ['kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
const sizeFormats = new Map<string, Intl.NumberFormat>()

/** A format is dear to make: each is made once. */
const sizeFormat = (unit: string, digits: number): Intl.NumberFormat => {
  const key = `${locale.value} ${unit} ${digits}`
  const made = sizeFormats.get(key)
  if (made) return made
  const format = new Intl.NumberFormat(locale.value, { style: 'unit', unit, maximumFractionDigits: digits })
  sizeFormats.set(key, format)
  return format
}

/** Bytes for people, such as "1.4 MB": a kilobyte has 1,000. */
export const formatSize = (bytes: number): string => {
  if (bytes < 1000) return `${formatNumber(bytes)} B`
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return sizeFormat(units[power - 1] ?? 'kilobyte', value < 10 ? 1 : 0).format(value)
}

export const formatNumber = (value: number): string => value.toLocaleString(locale.value)

/** A moment with day and time, in the reader's own time zone. The service says dates without a zone where it means UTC. */
export const formatMoment = (iso: string): string => {
  const date = new Date(/Z$|[+-]\d\d:?\d\d$/.test(iso) ? iso : `${iso}Z`)
  return Number.isNaN(date.getTime())
    ? iso
    : date.toLocaleString(locale.value, { dateStyle: 'medium', timeStyle: 'short' })
}

/** A span of time, roughly: "12 sec", "3 min", "2 hr". `seconds` may have a fraction. */
export const formatDuration = (seconds: number): string => {
  const [value, unit] =
    seconds < 60 ? [seconds, 'second'] : seconds < 3600 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour']
  return Math.max(1, Math.round(value)).toLocaleString(locale.value, { style: 'unit', unit, unitDisplay: 'short' })
}
