/**
 * What needs some bytes: the sites as they are now; only earlier states of files, which nobody can mend and which are forgotten in time; or an upload
 * that is half done, which whoever sends it begins anew, and which expires by itself.
 */
export type Need = 'now' | 'earlier' | 'upload'

/** Bytes that are missing, or are not what was stored. */
export interface Damaged {
  readonly need: Need
  /** Where they are kept. */
  readonly where: string
  readonly fault: string
}

/** Those that somebody has to put right before a backup can be whole: the others stop none. */
export const neededNow = (damaged: readonly Damaged[]): readonly Damaged[] =>
  damaged.filter(({ need }) => need === 'now')

/** How much is damaged, as a backup says it of itself. */
export interface DamageCounts {
  /** Files of the sites, as they are now. */
  readonly damaged: number
  /** What only earlier states of files have. */
  readonly damagedEarlier: number
  /** Uploads that are half done. */
  readonly damagedUploads: number
}

export const countsOf = (damaged: readonly Damaged[]): DamageCounts => {
  const count = (wanted: Need) => damaged.filter(({ need }) => need === wanted).length
  return { damaged: count('now'), damagedEarlier: count('earlier'), damagedUploads: count('upload') }
}
