const endings = ['SIGINT', 'SIGTERM'] as const

/** For how long a signal is taken for the first one, in milliseconds: it may reach the program once for its group, and once from what has started it. */
const sameSignal = 500

/** Runs something that ends in good order when somebody interrupts the program, by a signal with that reason; a second time it ends at once. */
export const interruptibly = async <Result>(
  run: (signal: AbortSignal) => Promise<Result>,
  reason?: Error,
): Promise<Result> => {
  const interruption = new AbortController()
  const stopListening = () => {
    for (const ending of endings) process.off(ending, interrupt)
  }
  const interrupt = () => {
    if (interruption.signal.aborted) return
    interruption.abort(reason)
    setTimeout(stopListening, sameSignal).unref()
  }
  for (const ending of endings) process.on(ending, interrupt)
  try {
    return await run(interruption.signal)
  } finally {
    stopListening()
  }
}
