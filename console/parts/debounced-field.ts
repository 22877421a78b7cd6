import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

// In milliseconds: after this time without a key, the text is passed on.
const quiet = 250

/**
 * Returns the props of a field that passes its text on after a pause or Enter. A new `value` replaces the shown text,
 * but never while the user types.
 */
export const useDebouncedField = (value: string, onText: (text: string) => void) => {
  const typed = useSignal(value)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const take = useRef(onText)
  take.current = onText
  const stop = () => {
    clearTimeout(timer.current)
    timer.current = undefined
  }
  const tell = () => {
    stop()
    take.current(typed.value)
  }
  useEffect(() => stop, [])
  useEffect(() => {
    if (timer.current === undefined) typed.value = value
  }, [value])
  return {
    value: typed.value,
    onInput({ currentTarget }: { readonly currentTarget: HTMLInputElement }) {
      typed.value = currentTarget.value
      stop()
      timer.current = setTimeout(tell, quiet)
    },
    onKeyDown({ key }: KeyboardEvent) {
      if (key === 'Enter') tell()
    },
  }
}
