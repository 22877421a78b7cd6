/** Stops a caller at `pass`, until the test opens the gate. */
export const createGate = () => {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    pass(): Promise<void> {
      reached.resolve()
      return opened.promise
    },
    reached: reached.promise,
    open: () => opened.resolve(),
  }
}
