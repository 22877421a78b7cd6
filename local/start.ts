import { Command, InvalidArgumentError } from 'commander'
import { SettingsError } from '../lib/settings.ts'
import { UsageError } from './data-directory.ts'
import { createRequestLog } from './request-log.ts'
import { type DataCentreListener, startService } from './service.ts'
import { machineWelcome, welcome } from './welcome.ts'

interface Flags {
  readonly port?: number
  readonly dataDir: string
  readonly dataCentres?: readonly [DataCentreListener, ...DataCentreListener[]]
  readonly reset: boolean
  readonly json: boolean
  readonly quiet: boolean
}

const defaultPort = 4000

const parsePort = (text: string): number => {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('It must be a number from 0 to 65535.')
  return port
}

const parseDataCentres = (text: string): [DataCentreListener, ...DataCentreListener[]] => {
  const listeners = text.split(',').map((part) => {
    const [, id, port] = /^([a-z][a-z0-9-]{0,31}):(\d+)$/.exec(part.trim()) ?? []
    if (id === undefined || port === undefined) {
      throw new InvalidArgumentError('It must look like us:4000,eu:4001.')
    }
    return { id, port: parsePort(port) }
  })
  const [first, ...others] = listeners
  if (!first || new Set(listeners.map(({ id }) => id)).size < listeners.length) {
    throw new InvalidArgumentError('Each data centre is named once.')
  }
  return [first, ...others]
}

const parseFlags = (argv: readonly string[]): Flags =>
  new Command('npm start --')
    .description('Serves site-admin on 127.0.0.1, with everything it needs in one process.')
    .option('--port <number>', `port to listen on; 0 takes any free one (default: ${defaultPort})`, parsePort)
    .option('--data-dir <path>', 'where data is kept', '.local')
    .option('--data-centres <list>', 'one listener each over one directory, such as us:4000,eu:4001', parseDataCentres)
    .option('--reset', 'begin with an empty data directory', false)
    .option('--json', 'print one JSON object when ready, and nothing else', false)
    .option('--quiet', 'log no requests', false)
    .allowExcessArguments(false)
    .parse(argv)
    .opts<Flags>()

/** `npm start` (decisions.md, section 6). Ready means: the line with the base URL is printed. */
export const start = async (argv: readonly string[]): Promise<void> => {
  const flags = parseFlags(argv)
  if (flags.port !== undefined && flags.dataCentres) {
    console.error('Give --port or --data-centres, not both: --data-centres names the ports.')
    process.exitCode = 1
    return
  }
  try {
    const service = await startService({
      dataDirectory: flags.dataDir,
      dataCentres: flags.dataCentres ?? [{ id: 'us', port: flags.port ?? defaultPort }],
      reset: flags.reset,
      telemetry: createRequestLog(flags.quiet),
    })
    const stop = () => {
      process.off('SIGINT', stop).off('SIGTERM', stop)
      service.stop().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error('The service did not stop cleanly:', error)
          process.exit(1)
        },
      )
    }
    process.on('SIGINT', stop).on('SIGTERM', stop)
    console.log(flags.json ? machineWelcome(service) : welcome(service))
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof SettingsError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
