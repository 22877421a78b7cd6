const pattern = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?)?$/i

const offsetMinutes = (zone: string | undefined): number => {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))
  return zone.startsWith('-') ? -minutes : minutes
}

/**
 * Reads `YYYY-MM-DD` or an ISO date-time, in UTC unless it names a zone. Gives `YYYY-MM-DDTHH:MM:SS` in UTC, plus a
 * fraction unless it is zero: such texts sort by time. Undefined for anything else.
 */
export const readDateTime = (text: string): string | undefined => {
  const match = pattern.exec(text.trim())
  if (!match) return undefined
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone] = match
  const parts = [year, month, day, hour, minute, second].map(Number)
  const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0] = parts
  const local = new Date(0)
  local.setUTCFullYear(y, mo - 1, d)
  local.setUTCHours(h, mi, s)
  // 30 February becomes a day in March: what does not come back as it went in is no date.
  const same = [
    local.getUTCFullYear(),
    local.getUTCMonth() + 1,
    local.getUTCDate(),
    local.getUTCHours(),
    local.getUTCMinutes(),
    local.getUTCSeconds(),
  ].every((part, index) => part === parts[index])
  if (!same) return undefined
  const moment = new Date(local.getTime() - offsetMinutes(zone) * 60_000)
  if (moment.getUTCFullYear() < 0 || moment.getUTCFullYear() > 9999) return undefined
  const rest = fraction.replace(/0+$/, '')
  return moment.toISOString().slice(0, 19) + (rest && `.${rest}`)
}
