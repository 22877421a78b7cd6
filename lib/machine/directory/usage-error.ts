/** A person can put it right; the message is all they need. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
