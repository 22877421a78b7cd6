import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

/** How long nothing is typed before a text takes hold, in milliseconds. */
const quiet = 250

/**
 * What a field needs whose text takes hold once nothing is typed for a moment, or with Enter. `value` is the text that holds: it is shown when it becomes another
 * one, and never in the place of what is being typed.
 */
export const useQuietField = (value: string, onText: (text: string) => void) => {
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
