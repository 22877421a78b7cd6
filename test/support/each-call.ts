const triesAll = process.env['EVERY_CALL'] === '1'

/**
 * The calls at which a fault or a race is tried, from 1 to `count`: every fifth one and the last, or each with
 * `EVERY_CALL=1`, as in CI.
 */
export const callsToTry = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index + 1).filter((call) => triesAll || call % 5 === 1 || call === count)

/** The number of random cases: a fifth of `count`, or all with `EVERY_CALL=1`, as in CI. */
export const timesToTry = (count: number): number => (triesAll ? count : Math.ceil(count / 5))
