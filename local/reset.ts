import { visible } from '../lib/core/visible.ts'
import { layoutOf } from '../lib/machine/directory/data-directory.ts'
import { contentsToReset } from '../lib/machine/directory/directory-use.ts'
import { UsageError } from '../lib/machine/directory/failures.ts'

const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`

/** Undefined where there is no terminal. */
const ask = async (question: string): Promise<boolean | undefined> => {
  if (!process.stderr.isTTY) return undefined
  const { askYes } = await import('../client/src/command/ask.ts')
  // Ctrl+C and Ctrl+D are a no.
  return askYes(visible(question)).catch(() => false)
}

/** Throws UsageError unless nothing is lost by a reset, or a person at a terminal agrees (O-11). */
export const confirmReset = async (dataDirectory: string): Promise<void> => {
  const directory = layoutOf(dataDirectory)
  const contents = await contentsToReset(directory)
  if (contents === 'nothing') return
  const loss =
    contents === 'uncounted'
      ? `all data from ${directory.path}, which cannot be read`
      : `${counted(contents.sites, 'site')} with ${counted(contents.files, 'file')} from ${directory.path}`
  const answer = await ask(`This removes ${loss}. Continue?`)
  if (answer) return
  throw new UsageError(
    answer === false ? 'Nothing was removed.' : `--reset removes ${loss}. Add --yes to do so. Nothing was removed.`,
  )
}
