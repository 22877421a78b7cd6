/** Names one upload of a token. */
interface UploadName {
  /** SHA-256 of the login token. */
  readonly token: string
  readonly id: string
}

/** The port to the progress of each token's newest upload, for a day. It may be lost with the machine. Errors of every call: unavailable. */
export interface UploadProgress {
  /** Makes this the token's newest upload, at 0 %: newer than every one that began before, whatever a clock says. */
  begin(upload: UploadName): Promise<void>
  /** Progress never falls, and never touches another upload's. */
  report(upload: UploadName, percent: number): Promise<void>
  /** 0 to 100; 0 when the token has not uploaded within a day. */
  percentOf(token: string): Promise<number>
}
