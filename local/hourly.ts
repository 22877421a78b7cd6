/** In milliseconds. */
const interval = 60 * 60 * 1000

/** Makes room: now, and every hour until it is stopped. */
export const hourly = async (sweep: () => Promise<void>): Promise<{ stop(): void }> => {
  await sweep()
  // A failure is no matter: what is left has its next time.
  const timer = setInterval(() => void sweep().catch(() => {}), interval).unref()
  return { stop: () => clearInterval(timer) }
}
