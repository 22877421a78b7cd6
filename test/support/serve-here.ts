import { onTestFinished } from 'vitest'
import { startService } from '../../local/service.ts'
import { scratchDirectory } from './directory.ts'
import { requestsTo } from './spawned-service.ts'

const once = (stop: () => Promise<void>) => {
  let stopping: Promise<void> | undefined
  return () => (stopping ??= stop())
}

const plainly = {
  host: '127.0.0.1',
  dataCentres: [{ id: 'us', port: 0 }],
  reset: false,
  telemetry: { request: () => {} },
  say: () => {},
} satisfies Omit<Parameters<typeof startService>[0], 'dataDirectory'>

type Options = Partial<Parameters<typeof startService>[0]>

/** The service of one machine in this process, with requests of its demo token. */
export const hostHere = async (dataDirectory: string, options: Options = {}) => {
  const { baseUrl, demo, stop } = await startService({ ...plainly, dataDirectory, ...options })
  const token = demo?.token ?? ''
  const siteId = demo?.siteId ?? 0
  return { baseUrl, directory: dataDirectory, siteId, token, request: requestsTo(baseUrl, token), stop: once(stop) }
}

/** The service of one machine in this process, until the test ends. */
export const serveHere = async (options: Options = {}) => {
  const service = await startService({ ...plainly, dataDirectory: scratchDirectory(), ...options })
  const stop = once(service.stop)
  onTestFinished(stop)
  const { metricsUrl = '' } = service
  const scrape = async (): Promise<readonly string[]> => (await (await fetch(metricsUrl)).text()).split('\n')
  const read = async (series: string): Promise<number | undefined> => {
    const line = (await scrape()).find((each) => each.startsWith(`${series} `))
    return line === undefined ? undefined : Number(line.slice(series.length + 1))
  }
  return { ...service, stop, metricsUrl, scrape, read }
}
