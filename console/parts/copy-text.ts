import { focusContent } from './focus.ts'

const copySelected = (text: string): boolean => {
  const before = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  const place = before?.closest('dialog') ?? document.body
  place.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  if (document.activeElement === document.body) focusContent()
  return isCopied
}

/**
 * Browsers offer the clipboard only to pages from https or from this machine, and may forbid it to these too. Then the
 * page selects a text and copies the selection. The text is inside the open dialog, because a dialog takes the focus from
 * the rest of the page.
 */
export const copyText = async (text: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    if (!copySelected(text)) throw new DOMException('', 'NotAllowedError')
  }
}
