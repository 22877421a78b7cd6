import { ServiceError } from '../core/errors.ts'

export interface Position<By extends string> {
  readonly by: By
  readonly after: string
}

export const writeCursor = <By extends string>({ by, after }: Position<By>): string =>
  Buffer.from(`${by}:${after}`).toString('base64url')

/** The position in a cursor of a listing that knows these kinds of them. Errors: storageRefused. */
export const readCursor = <By extends string>(cursor: string, kinds: readonly By[]): Position<By> => {
  const [, kind, after] = /^(\w+):(.+)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  const by = kinds.find((one) => one === kind)
  if (by === undefined || after === undefined) {
    throw new ServiceError('storageRefused', { message: 'The cursor is none of this listing. Begin the listing anew.' })
  }
  return { by, after }
}
