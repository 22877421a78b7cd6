import { resolve } from 'node:path'
import { shown } from '../client/src/command/shown.ts'
import { UsageError } from '../lib/machine/directory/faults.ts'
import type { Reset } from '../lib/machine/directory/open-directory.ts'

const counted = (count: number, what: string) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`

/** Asks on a terminal. Elsewhere it refuses (O-11). */
export const confirmReset =
  (dataDirectory: string): Reset =>
  async (contents) => {
    const directory = resolve(dataDirectory)
    const loss = contents
      ? `${counted(contents.sites, 'site')} with ${counted(contents.files, 'file')} from ${directory}`
      : `all data from ${directory} (its database cannot be read)`
    const { askYes } = await import('../client/src/command/ask.ts')
    const agrees = process.stderr.isTTY && (await askYes(shown(`This removes ${loss}. Continue?`)).catch(() => false))
    if (agrees) return
    throw new UsageError(`Nothing was removed. --reset would remove ${loss}: confirm it on a terminal, or add --yes.`)
  }
