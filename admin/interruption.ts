const endings = ['SIGINT', 'SIGTERM'] as const

/** Runs something that ends in good order when somebody interrupts the program, by a signal with that reason; a second time it ends at once. */
export const interruptibly = async <Result>(
  run: (signal: AbortSignal) => Promise<Result>,
  reason?: Error,
): Promise<Result> => {
  const interruption = new AbortController()
  const interrupt = () => {
    for (const ending of endings) process.off(ending, interrupt)
    interruption.abort(reason)
  }
  for (const ending of endings) process.on(ending, interrupt)
  try {
    return await run(interruption.signal)
  } finally {
    for (const ending of endings) process.off(ending, interrupt)
  }
}
