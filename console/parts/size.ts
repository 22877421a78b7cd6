import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/** Calls `look` at the start, and whenever the size of the element changes. */
export const useSize = (box: RefObject<HTMLElement | null>, look: (shown: HTMLElement) => void): void =>
  useLayoutEffect(() => {
    const shown = box.current
    if (!shown) return
    const sizes = new ResizeObserver(() => look(shown))
    sizes.observe(shown)
    look(shown)
    return () => sizes.disconnect()
  }, [])
