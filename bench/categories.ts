import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDataDirectory } from '../local/data-directory.ts'
import { openEmbeddedTables } from '../local/embedded-tables.ts'
import { measureBadInput } from './categories/bad-input.ts'
import { storeLibrary } from './categories/library.ts'
import { measureLinkCost } from './categories/link-cost.ts'
import { measureLists } from './categories/lists.ts'
import type { Bench } from './table.ts'

/** How lists of a category grow with it, and what linking and hostile requests cost. Takes some minutes. */
export const categories: Bench = async () => {
  const path = await mkdtemp(join(tmpdir(), 'site-admin-bench-'))
  try {
    const directory = openDataDirectory(path)
    const { documents, close } = await openEmbeddedTables(directory, directory.socket)
    try {
      await storeLibrary(documents)
      return [
        ...(await measureLists(directory.socket)),
        await measureLinkCost(documents),
        await measureBadInput(documents),
      ]
    } finally {
      await close()
    }
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}
