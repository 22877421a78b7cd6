import type { Command } from 'commander'
import { capitalised } from '../../lib/core/names.ts'
import { outputLost, Refusal, textOf, tryToPrint } from './output.ts'

// The secrets that commands show once, and the commands that revoke and replace them.
const secrets = {
  token: { shown: 'token', undo: 'revoke', again: 'issue' },
  key: { shown: 'key', undo: 'revoke', again: 'create' },
  webhook: { shown: 'secret of the webhook', undo: 'remove', again: 'create' },
} as const

/**
 * Prints a secret while the stores are open, because nothing shows the secret again. If the output fails, revokes the
 * secret, and throws a Refusal that names the next step.
 */
export const printOnce = async (
  self: Command,
  what: keyof typeof secrets,
  name: string,
  output: object,
  revoke: () => Promise<unknown>,
): Promise<undefined> => {
  const failure = await tryToPrint(textOf(output, self.optsWithGlobals<{ readonly json: boolean }>().json))
  if (!failure) return
  const { shown, undo, again } = secrets[what]
  const unseen = `${outputLost(failure)} Nobody saw the ${shown}`
  try {
    await revoke()
  } catch {
    throw new Refusal(`${unseen}: ${undo} it with "${what} ${undo} ${name}", and ${again} another ${what}.`)
  }
  throw new Refusal(`${unseen}, so it is ${undo}d. ${capitalised(again)} another ${what}.`)
}
