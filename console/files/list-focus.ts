import { useLayoutEffect, useRef } from 'preact/hooks'
import type { FilesPage } from './files-context.ts'

/** Keeps the focus in the list when the content of the list is replaced. */
export const useListFocus = <Shown extends HTMLElement>(keyboard: FilesPage['keyboard']) => {
  const box = useRef<Shown>(null)
  useLayoutEffect(() => {
    const shown = box.current
    // The second click of a double click focuses the page while the list is loading.
    if (keyboard.isInList && document.activeElement?.contains(shown)) shown?.focus()
    return () => {
      keyboard.isInList = shown?.contains(document.activeElement) ?? false
    }
  }, [keyboard])
  return box
}
