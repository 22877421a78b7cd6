/** Bytes per second over the last `span` milliseconds. */
export const createRate = (span = 8000) => {
  let samples: { readonly at: number; readonly sent: number }[] = []
  return {
    note(at: number, sent: number) {
      samples = [...samples.filter((sample) => at - sample.at <= span), { at, sent }]
    },
    /** In bytes per second; 0 if unknown. */
    value(): number {
      const [first, last] = [samples[0], samples.at(-1)]
      if (!first || !last || last.at - first.at < 500) return 0
      return Math.max(0, (1000 * (last.sent - first.sent)) / (last.at - first.at))
    },
    reset() {
      samples = []
    },
  }
}
