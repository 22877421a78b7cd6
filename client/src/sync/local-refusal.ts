import { hasStatus } from '../service-error.ts'

export class LocalRefusal extends Error {
  override readonly name = 'LocalRefusal'
  readonly isConflict: boolean

  constructor(message: string, isConflict = false) {
    super(message)
    this.isConflict = isConflict
  }
}

export const isConflict = (error: unknown): boolean =>
  hasStatus(error, 412) || (error instanceof LocalRefusal && error.isConflict)
