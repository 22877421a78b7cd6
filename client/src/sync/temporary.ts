import { randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

export const temporaryName = (): string => `.${randomUUID()}.part`

const isTemporary = (name: string): boolean => /^\.[\da-f-]{36}\.part$/.test(name)

/** In milliseconds: after this time without a change, a temporary file counts as abandoned. */
const longestWrite = 24 * 3600_000

/**
 * Removes temporary files that killed runs have left. Files with other names stay, because browsers use the same
 * extension. A file that this user may not remove stays too.
 */
export const removeLeftovers = async (folder: string): Promise<void> => {
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter(isTemporary)) {
    const info = await stat(join(folder, name)).catch(() => undefined)
    if (info && Date.now() - info.mtimeMs > longestWrite) await rm(join(folder, name)).catch(() => {})
  }
}
