/** A command that cannot be carried out; the message says what to do about it. Exit status 1. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

/** A command that has looked for faults, and has said which ones there are. Exit status 1. */
export class FaultsFound extends Error {
  override readonly name = 'FaultsFound'
}
