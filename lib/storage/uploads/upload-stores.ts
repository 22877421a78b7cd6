import type { Holding, Target, Upload } from './upload.ts'

/**
 * `taken`: the upload as it is now; `held`: somebody else has it, for so many milliseconds at most; `moved`: it is not
 * at that offset, or complete.
 */
export type TakeOutcome =
  | { readonly outcome: 'taken'; readonly upload: Upload }
  | { readonly outcome: 'held'; readonly left: number }
  | { readonly outcome: 'moved' }
  | { readonly outcome: 'unknown' }

export type Progress = Pick<Upload, 'offset' | 'length' | 'expires'> & { readonly holding: Holding }

/**
 * The port to the records of uploads. What was written a moment ago is seen. Whether an upload has expired is for its
 * reader to say. Errors of every call: unavailable, outOfSpace where it writes.
 */
export interface UploadRecords {
  /**
   * Answers false, and does nothing, when the user has so many open uploads on the site that have not expired at `now`.
   */
  create(upload: Upload, most: number, now: number): Promise<boolean>
  get(id: string): Promise<Upload | undefined>
  /**
   * Takes an upload for one request, at the offset where that means to go on: nobody else gets it before it is given
   * back, or so many milliseconds have passed. It may be taken at its end as well, for what is left to do then.
   */
  take(id: string, offset: number, holder: string, duration: number): Promise<TakeOutcome>
  /**
   * Lets its holder have an upload for so many milliseconds from now on, also when his time has passed and nobody else
   * has come; what was noted is written down in the same step. Answers false, and does nothing, when he has it no more.
   */
  renew(id: string, holder: string, duration: number): Promise<boolean>
  /**
   * Writes down what is kept, and gives the upload back in the same step unless its holder `keeps` it. Answers false,
   * and does nothing, when he has it no more: it is somebody else's, or gone.
   */
  advance(id: string, holder: string, progress: Progress, keeps: boolean): Promise<boolean>
  /**
   * The same for what nobody was told of: it may be behind what is kept, never before it. It may be written down when
   * the holder renews.
   */
  note(id: string, holder: string, progress: Progress): Promise<void>
  /**
   * Writes down that it is in place: nothing is held for it any more. Does nothing when that is known, or it is gone.
   */
  complete(id: string, expires: number): Promise<void>
  /** Does nothing when that holder has not taken it. */
  giveBack(id: string, holder: string): Promise<void>
  /** Removes the record. Answers what was held for it at that moment: nothing when it was complete, or gone. */
  remove(id: string): Promise<Holding | undefined>
}

/** The stored bytes of an append, and the failure that ended it early. */
interface Appended {
  readonly size: number
  readonly holding: Holding
  /** The error of the content. What came before it is kept all the same. */
  readonly failure?: unknown
}

export interface AppendWatch {
  /** Is told every now and then how many bytes are kept for good by then, and where. */
  kept(size: number, holding: Holding): void
  isOver(): boolean
}

/** An upload that is not in place. */
export type HeldUpload = Pick<Upload, 'id' | 'target'> & { readonly holding: Holding }

/** An upload with all of its bytes. */
export type WholeUpload = HeldUpload & Pick<Upload, 'created'> & { readonly length: number }

/**
 * The port to the bytes of uploads. What is behind the offset of a record counts for nothing, and is written over: so a
 * crash between the bytes and the record loses nothing that was answered. `Whole` is what the destination takes. Errors
 * of every call: unavailable, outOfSpace where it writes.
 */
export interface UploadParts<Whole> {
  begin(target: Target): Promise<Holding>
  /**
   * Writes on at the offset; what is there behind it goes. Everything that it answers is kept for good. Throws what the
   * store fails with, not the content. Errors: unavailable when its time was over before something could be begun.
   */
  append(
    upload: HeldUpload & Pick<Upload, 'length'>,
    offset: number,
    content: AsyncIterable<Uint8Array>,
    watch: AppendWatch,
  ): Promise<Appended>
  /** The bytes of a whole upload. */
  read(upload: WholeUpload): AsyncIterable<Uint8Array>
  /** An earlier attempt may have put it in place and died before the record. A newer file at the key stays. */
  isInPlace(upload: WholeUpload): Promise<boolean>
  /**
   * A whole upload as it is put in place. It stays until it is there, or removed: another attempt may ask for it again.
   */
  whole(upload: WholeUpload): Promise<Whole>
  /** Does nothing when it is gone. */
  remove(upload: Omit<HeldUpload, 'target'>): Promise<void>
}
