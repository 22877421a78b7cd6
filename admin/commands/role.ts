import type { Command } from 'commander'
import { roles } from '../../lib/access/roles.ts'
import { textOfRight } from '../../lib/core/rights.ts'
import type { GlobalOptions } from '../stores/stores.ts'
import { commandOf, groupOf } from '../terminal/arguments.ts'
import { print } from '../terminal/output.ts'

const list = (_options: object, self: Command): Promise<void> => {
  const rows = Object.entries(roles).map(([role, { rights, isPerFolder }]) => ({
    role,
    rights: rights.map(textOfRight),
    perFolder: isPerFolder,
  }))
  return print(rows, self.optsWithGlobals<GlobalOptions>().json)
}

export const roleCommand = (): Command =>
  groupOf('role', 'named sets of rights', 'role list', [
    commandOf('list', 'list the roles, with their rights', 'role list').action(list),
  ])
