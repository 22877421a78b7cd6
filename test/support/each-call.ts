/**
 * The calls at which a fault or a race is tried, from 1 to `count`: every third one and the last, or each with
 * `EVERY_CALL=1`, as in CI.
 */
export const callsToTry = (count: number): readonly number[] => {
  const all = Array.from({ length: count }, (_, index) => index + 1)
  if (process.env['EVERY_CALL'] === '1') return all
  return all.filter((call) => call % 3 === 1 || call === count)
}
