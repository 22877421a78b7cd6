import { systemClock } from '../lib/clock.ts'
import { readMachineSettings } from '../lib/config.ts'
import type { Telemetry } from '../lib/http/observe.ts'
import { ensureDemo } from './demo-data.ts'
import type { Demo } from './demo-file.ts'
import { readDemo } from './demo-file.ts'
import { serverFor } from './groups.ts'
import { createListeners, type DataCentreListener } from './listeners.ts'
import type { LocalStores } from './local-stores.ts'
import { openMachine } from './machine.ts'
import { registerDataCentres } from './register-data-centres.ts'

interface Options {
  readonly dataDirectory: string
  readonly host: string
  /** The first one is the home of the demo site. */
  readonly dataCentres: readonly [DataCentreListener, ...DataCentreListener[]]
  readonly reset: boolean
  readonly telemetry: Telemetry
  /** Tells the person who has started the service. */
  readonly say: (sentence: string) => void
}

export interface RunningService {
  readonly baseUrl: string
  readonly dataCentres: Readonly<Record<string, string>>
  readonly demo: Demo
  /** Answers the requests in flight, then lets go of the data directory. */
  stop(): Promise<void>
}

const sayWhatIsMissing = ({ tidied }: LocalStores, say: (sentence: string) => void): void => {
  const count = tidied?.damaged.length ?? 0
  if (count === 0) return
  const files =
    count === 1
      ? '1 file is not whole, and fails when it is read'
      : `${count} files are not whole, and fail when they are read`
  say(`${files}: "site-admin check" names what is missing.`)
}

/** Everything in one process: a listener for each data centre over one data directory. Throws UsageError or SettingsError for what a person can put right. */
export const startService = async (options: Options): Promise<RunningService> => {
  const { dataDirectory, host, dataCentres, reset, telemetry, say } = options
  const settings = readMachineSettings()
  const machine = await openMachine(dataDirectory, { role: 'service', reset, durable: settings.fsync === 'on' })
  const { directory, stores } = machine
  const [{ id: home }] = dataCentres
  const listeners = createListeners(
    dataCentres,
    host,
    (dataCentre) => serverFor({ dataCentre, stores, settings, telemetry }),
    say,
  )
  const stop = async () => {
    await listeners.close()
    await machine.close()
  }

  try {
    readDemo(directory)
    sayWhatIsMissing(stores, say)
    const urls = await listeners.listen()
    await registerDataCentres(stores.sites, urls, home)
    const demo = await ensureDemo({ directory, stores, dataCentre: home, clock: systemClock, say })
    return { baseUrl: urls[home] ?? '', dataCentres: urls, demo, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
