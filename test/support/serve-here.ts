import { onTestFinished } from 'vitest'
import { startService } from '../../local/service.ts'
import { scratchDirectory } from './directory.ts'

/** The service of one machine in this process, until the test ends. */
export const serveHere = async (options: Partial<Parameters<typeof startService>[0]> = {}) => {
  const service = await startService({
    dataDirectory: scratchDirectory(),
    host: '127.0.0.1',
    dataCentres: [{ id: 'us', port: 0 }],
    reset: false,
    telemetry: { request: () => {} },
    say: () => {},
    ...options,
  })
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= service.stop()
    return stopping
  }
  onTestFinished(stop)
  const { metricsUrl = '' } = service
  const scrape = async (): Promise<readonly string[]> => (await (await fetch(metricsUrl)).text()).split('\n')
  const read = async (series: string): Promise<number | undefined> => {
    const line = (await scrape()).find((each) => each.startsWith(`${series} `))
    return line === undefined ? undefined : Number(line.slice(series.length + 1))
  }
  return { ...service, stop, metricsUrl, scrape, read }
}
