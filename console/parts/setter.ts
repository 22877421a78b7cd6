import type { Signal } from '@preact/signals'

/** A handler that gives a signal a value. */
export const setter =
  <Value>(target: Signal<Value>, value: Value) =>
  (): void => {
    target.value = value
  }
