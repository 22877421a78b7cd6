import type { Holding, Target, Upload } from './upload.ts'

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
