const triesAll = process.env['EVERY_CALL'] === '1'

/** The numbers of the calls that get a fault: every fifth and the last. With `EVERY_CALL=1`, as in CI: all. */
export const callsToTry = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index + 1).filter((call) => triesAll || call % 5 === 1 || call === count)

/** The number of random cases: a fifth of `count`. With `EVERY_CALL=1`, as in CI, it is `count`. */
export const timesToTry = (count: number): number => (triesAll ? count : Math.ceil(count / 5))
