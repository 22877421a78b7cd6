import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Focuses the default control of a dialog, or else its first input, or else a harmless button. */
export const focusDialog = (dialog: HTMLDialogElement): void => {
  const find = (selector: string) => dialog.querySelector<HTMLElement>(selector)
  const first =
    find('[data-default]') ??
    find(':is(.dialog-body, form) :is(input, select, textarea):not([hidden]), footer button') ??
    find('button')
  first?.focus()
}

/** Moves the focus to the open dialog, or else to the content of the page, when the focused element was removed. */
export const focusContent = (): void => {
  const dialog = [...document.querySelectorAll<HTMLDialogElement>('dialog[open]')].at(-1)
  const list = document.querySelector<HTMLElement>('.grid, .folder > .empty[tabindex]')
  const place = list ?? document.getElementById('content')
  if (dialog) focusDialog(dialog)
  else place?.focus()
}

/** If a part of the page has the focus when the part disappears, the content gets the focus. */
export const useContentFocus = (box: RefObject<HTMLElement | null>): void =>
  useLayoutEffect(() => {
    const shown = box.current
    return () => {
      if (shown?.contains(document.activeElement)) focusContent()
    }
  }, [])

/** Keeps the focus in a part of the page when a button of this part disappears. The part needs a `tabIndex`. */
export const useRetainedFocus = <Shown extends HTMLElement>() => {
  const box = useRef<Shown>(null)
  const wasInside = box.current?.contains(document.activeElement)
  useLayoutEffect(() => {
    if (wasInside && document.activeElement === document.body) box.current?.focus()
  })
  return box
}
