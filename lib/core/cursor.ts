import { type ErrorName, ServiceError } from './errors.ts'

/** `by` names the list and its order. */
export interface Position<By extends string> {
  readonly by: By
  readonly after: string
}

export const writeCursor = ({ by, after }: Position<string>): string =>
  Buffer.from(`${by}:${after}`).toString('base64url')

export const foreignCursor = (malformed: ErrorName): ServiceError =>
  new ServiceError(malformed, { message: 'This cursor belongs to another list. List again without it.' })

/** Accepts only the exact texts that `writeCursor` writes. */
export const readCursor = <By extends string>(
  cursor: string,
  kinds: readonly By[],
  malformed: ErrorName,
): Position<By> => {
  const [, kind, after = ''] = /^(\w+):(.+)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  const by = kinds.find((one) => one === kind)
  if (by !== undefined && writeCursor({ by, after }) === cursor) return { by, after }
  throw foreignCursor(malformed)
}
