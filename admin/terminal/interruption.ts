// A terminal that closes sends SIGHUP.
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

// In milliseconds. One Ctrl+C may arrive twice: once for the process group, and once from the parent process.
const sameSignal = 500

/**
 * Runs work that can be interrupted. The first signal asks the work to end cleanly, with `reason`. The second
 * signal ends the process at once.
 */
export const interruptibly = async <Result>(run: (signal: AbortSignal) => Promise<Result>, reason?: Error) => {
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
