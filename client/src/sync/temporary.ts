import { randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The name of a file that is not whole yet: a new one each time, and one that any disk takes, whatever it is to be
 * called.
 */
export const temporaryName = (): string => `.${randomUUID()}.part`

const isTemporary = (name: string): boolean => /^\.[\da-f-]{36}\.part$/.test(name)

/** Nobody writes into a file any more that has not changed for so long, in milliseconds. */
const longestWrite = 24 * 3600_000

/**
 * Removes what runs that were killed have left in a folder, and nothing else: a link may lead to it, and browsers have
 * names with the same end.
 */
export const removeLeftovers = async (folder: string): Promise<void> => {
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter(isTemporary)) {
    const info = await stat(join(folder, name)).catch(() => undefined)
    if (info && Date.now() - info.mtimeMs > longestWrite) await rm(join(folder, name), { force: true })
  }
}
