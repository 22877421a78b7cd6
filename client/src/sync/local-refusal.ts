export class LocalRefusal extends Error {
  override readonly name = 'LocalRefusal'
  readonly isConflict: boolean

  constructor(message: string, isConflict = false) {
    super(message)
    this.isConflict = isConflict
  }
}
