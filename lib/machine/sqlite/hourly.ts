/** In milliseconds. */
const interval = 60 * 60 * 1000

/** Makes room: from now on, and every hour until it is stopped. Nobody waits for it; what a failure leaves has its next time. */
export const hourly = (sweep: () => Promise<void>): { stop(): void } => {
  const run = () => void sweep().catch(() => {})
  run()
  const timer = setInterval(run, interval).unref()
  return { stop: () => clearInterval(timer) }
}
