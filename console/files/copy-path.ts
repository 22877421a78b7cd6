import { copyText } from '../parts/copy-text.ts'
import { notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'

export const copyPaths = async (paths: readonly string[]): Promise<void> => {
  await copyText(paths.map((path) => `/${path}`).join('\n'))
  notify(texts.value.files.pathCopied)
}
