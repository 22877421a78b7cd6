/** One thing that is wrong with a data directory. */
export interface Fault {
  /** The file, or what of the sites, is at fault. */
  readonly where: string
  /** What is wrong, and what to do about it where something can be done. */
  readonly fault: string
}
