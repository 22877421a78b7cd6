import { focusContent } from '../parts/focus.ts'
import { notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'

/** Browsers offer the clipboard only to pages from https or from this machine. Elsewhere, a selected text is copied. */
const copyText = async (text: string): Promise<void> => {
  if (isSecureContext) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
  focusContent()
}

export const copyPaths = async (paths: readonly string[]): Promise<void> => {
  await copyText(paths.map((path) => `/${path}`).join('\n'))
  notify(texts.value.files.pathCopied)
}
