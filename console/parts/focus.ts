import { useLayoutEffect, useRef } from 'preact/hooks'

/** Takes the keyboard to what is worked with: for when what had it is gone. */
export const focusContent = (): void => {
  const place = document.querySelector<HTMLElement>('.grid') ?? document.querySelector<HTMLElement>('.folder > .empty')
  place?.focus()
  if (document.activeElement === document.body) document.getElementById('content')?.focus()
}

/**
 * Keeps the keyboard in a part of the page when the button that had it goes away: then the part itself has it, which
 * needs a `tabIndex`.
 */
export const useKeptFocus = <Shown extends HTMLElement>() => {
  const box = useRef<Shown>(null)
  const wasInside = box.current?.contains(document.activeElement)
  useLayoutEffect(() => {
    if (wasInside && document.activeElement === document.body) box.current?.focus()
  })
  return box
}
