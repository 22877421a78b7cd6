import type { BlockList } from 'node:net'
import { Command, InvalidArgumentError, Option } from 'commander'
import { escapeControls } from '../client/src/command/format-text.ts'
import { plainId } from '../lib/core/names.ts'
import { UsageError } from '../lib/machine/directory/faults.ts'
import { readBaseUrl } from '../lib/sites/site-directory.ts'
import { readBlocks } from '../server/read-request.ts'
import type { DataCentreListener } from './listeners.ts'
import type { MetricsAddress } from './metrics.ts'
import type { LogFormat } from './request-log.ts'

// One URL for the only data centre, or a URL for each data centre id.
type BaseUrls = string | ReadonlyMap<string, string>

export interface RawFlags {
  readonly host: string
  readonly port?: number
  readonly baseUrl?: BaseUrls
  readonly dataDir: string
  readonly dataCentres?: readonly DataCentreListener[]
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly reset: boolean
  readonly yes: boolean
  readonly demo: boolean
  readonly trustProxy?: BlockList
  readonly metrics?: MetricsAddress
  readonly insecureSignIn: boolean
  readonly allowPrivateWebhooks: boolean
  readonly json: boolean
  readonly quiet: boolean
  readonly log: LogFormat
}

export type Flags = Readonly<ReturnType<typeof flagsOf>>

const defaultPort = 4000

/** A parser of an argument. `read` returns undefined for a wrong text. `fault` says what a right text looks like. */
export const parserOf =
  <Value>(read: (text: string) => Value | undefined, fault: string) =>
  (text: string): Value => {
    const value = read(text)
    if (value === undefined) throw new InvalidArgumentError(fault)
    return value
  }

/** A parser that returns a right text unchanged. */
export const parserIf = (isRight: (text: string) => boolean, fault: string) =>
  parserOf((text) => (isRight(text) ? text : undefined), fault)

const parsePort = parserOf((text) => {
  const port = Number(text)
  return /^\d+$/.test(text) && port <= 65_535 ? port : undefined
}, 'It must be a number from 0 to 65535.')

export const parseBaseUrl = parserOf(readBaseUrl, 'It must be an http or https URL without a query or a password.')

// Reads a list such as `us:4000,eu:4001`. `shape` matches an id and its value.
const parseById = <Value>(text: string, shape: RegExp, parse: (value: string) => Value, fault: string) => {
  const entries = text.split(',').map((part): [string, Value] => {
    const [, id, value] = shape.exec(part.trim()) ?? []
    if (id === undefined || !plainId.test(id) || value === undefined) throw new InvalidArgumentError(fault)
    return [id, parse(value)]
  })
  const byId = new Map(entries)
  if (byId.size < entries.length) throw new InvalidArgumentError('Name each data centre only once.')
  return byId
}

const parseDataCentres = (text: string): DataCentreListener[] => {
  const fault = 'It must be a list of ids and ports, such as us:4000,eu:4001.'
  const ports = parseById(text, /^([^:]*):(\d+)$/, parsePort, fault)
  return [...ports].map(([id, port]) => ({ id, port }))
}

const parseBaseUrls = (text: string): BaseUrls => {
  if (/^https?:/i.test(text)) return parseBaseUrl(text)
  const fault = 'It must be a URL, or a list such as us=https://us.example,eu=https://eu.example.'
  return parseById(text, /^([^=]*)=(.+)$/, parseBaseUrl, fault)
}

const parseProxies = parserOf(
  (text) => readBlocks(text.split(',')),
  'It must be an address or a block such as 10.0.0.0/8.',
)

const parseMetrics = parserOf((text): MetricsAddress | undefined => {
  const [, host = '127.0.0.1', port] = /^(?:(\[[\da-f:.]+\]|[^:\s]+):)?(\d+)$/i.exec(text) ?? []
  return port === undefined ? undefined : { host: host.replace(/^\[|\]$/g, ''), port: parsePort(port) }
}, 'It must be a port, or an address with a port, such as 127.0.0.1:9464.')

export const parseText = parserIf((text) => text.trim() !== '', 'It must not be empty.')

const addBaseUrls = (dataCentres: readonly DataCentreListener[], baseUrls: BaseUrls | undefined) => {
  if (baseUrls === undefined) return dataCentres
  if (typeof baseUrls === 'string') {
    if (dataCentres.length === 1) return dataCentres.map((dataCentre) => ({ ...dataCentre, baseUrl: baseUrls }))
    throw new UsageError(
      'With several data centres, --base-url must give the URL of each, such as ' +
        'us=https://us.example,eu=https://eu.example.',
    )
  }
  const unknown = [...baseUrls.keys()].find((id) => !dataCentres.some((dataCentre) => dataCentre.id === id))
  if (unknown !== undefined)
    throw new UsageError(`--base-url names the data centre ${unknown}, but --data-centres does not.`)
  return dataCentres.map((dataCentre) => ({ ...dataCentre, baseUrl: baseUrls.get(dataCentre.id) }))
}

export const addServiceOptions = (command: Command): Command =>
  command
    .option('--host <address>', 'address to listen on; 0.0.0.0 admits other machines', parseText, '127.0.0.1')
    .option('--port <number>', `port to listen on; with 0, any free port (default: ${defaultPort})`, parsePort)
    .option(
      '--base-url <url>',
      'the base URL of the service behind a proxy; for several data centres us=URL,eu=URL',
      parseBaseUrls,
    )
    .option('--trust-proxy <cidr>', 'accept X-Forwarded-For from these proxies, separated by commas', parseProxies)
    .option('--insecure-sign-in', 'accept passwords over http from other machines', false)
    .option('--allow-private-webhooks', 'allow webhooks to send to this machine and its private network', false)
    .option(
      '--data-centres <list>',
      'serve several data centres with one directory, such as us:4000,eu:4001',
      parseDataCentres,
    )
    .option('--tls-cert <file>', 'serve https with this certificate and its chain (PEM); needs --tls-key', parseText)
    .option('--tls-key <file>', 'the private key of --tls-cert (PEM)', parseText)
    .option(
      '--metrics <address>',
      'serve metrics for Prometheus on this port or address, without a token',
      parseMetrics,
    )
    .option('--reset', 'remove all data after a confirmation, then start empty', false)
    .option('--yes', 'with --reset: remove without a confirmation', false)
    .option('--no-demo', 'create no demo site')
    .option('--quiet', 'log only failed requests', false)
    .addOption(new Option('--log <format>', 'the format of the log').choices(['text', 'json']).default('text'))

/** Each error of Commander becomes one line of printable characters. */
export const printableErrors = {
  writeErr: (text: string) => console.error(text.trimEnd()),
  outputError: (text: string, write: (text: string) => void) =>
    write(escapeControls(text.trimEnd().replace('\n(Did you mean', ' (Did you mean'))),
}

/** Throws UsageError for flags that contradict each other. */
export const flagsOf = ({ port, baseUrl, dataCentres, tlsCert: cert, tlsKey: key, ...flags }: RawFlags) => {
  if (port !== undefined && dataCentres) {
    throw new UsageError('Give --port or --data-centres, not both: --data-centres names the ports.')
  }
  const listeners = addBaseUrls(dataCentres ?? [{ id: 'us', port: port ?? defaultPort }], baseUrl)
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError('--tls-cert and --tls-key belong together: give both of them, or neither.')
  }
  return { ...flags, ...(cert !== undefined && key !== undefined && { tls: { cert, key } }), dataCentres: listeners }
}

/** Ends the process for `--help` and for wrong values; throws UsageError for flags that contradict each other. */
export const parseFlags = (argv: readonly string[]): Flags => {
  const command = new Command('npm start --').description('Serves site-admin and all of its parts in one process.')
  return flagsOf(
    addServiceOptions(command)
      .option('--data-dir <path>', 'the data directory', parseText, '.local')
      .option('--json', 'print one JSON object when the service is ready, and nothing else', false)
      .configureOutput(printableErrors)
      .showHelpAfterError('Add --help to see the usage.')
      .parse(argv)
      .opts<RawFlags>(),
  )
}
