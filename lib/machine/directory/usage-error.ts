/** Something that a person who starts the service can put right; its message is all they need to see. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
