import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { howMany } from '../lib/core/names.ts'
import { systemCodeOf } from '../lib/core/system-failures.ts'
import { UsageError } from '../lib/machine/directory/faults.ts'
import { type Closing, closerOf } from '../server/server.ts'

export interface DataCentreListener {
  readonly id: string
  /** 0 chooses any free port. */
  readonly port: number
  /** The base URL of links and redirects, if it differs from the address of the listener. */
  readonly baseUrl?: string | undefined
}

const anyAddress: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

const ownAddress = (): string =>
  Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'

export const withPort = (name: string, port: number): string => `${isIPv6(name) ? `[${name}]` : name}:${port}`

const noHost = (host: string) => `There is no host called ${host}. Choose another address with --host.`
const noAddress = (host: string) => `This machine has no address ${host}. Choose another address with --host.`

const refusals: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (_, port) => `Port ${port} is taken. Choose another port with --port or --data-centres.`,
  EACCES: (_, port) => `This user may not listen on port ${port}. Choose a port above 1023.`,
  EADDRNOTAVAIL: noAddress,
  ENOTFOUND: noHost,
  EAI_AGAIN: noHost,
  EAFNOSUPPORT: noAddress,
  EINVAL: noAddress,
}

export const listen = async (server: Server, host: string, port: number): Promise<AddressInfo> => {
  server.listen(port, host)
  await once(server, 'listening')
  return server.address() as AddressInfo
}

const sentenceOf = (closing: Closing): string =>
  'waitingFor' in closing
    ? `Waiting for the answers to ${howMany(closing.waitingFor, 'request')}.`
    : `${howMany(closing.cutOff, 'request')} took too long, and ${closing.cutOff === 1 ? 'was' : 'were'} cut off.`

export const createListeners = (
  dataCentres: readonly DataCentreListener[],
  { scheme, host }: { readonly scheme: 'http' | 'https'; readonly host: string },
  serverFor: (dataCentre: DataCentreListener) => Server,
  say: (sentence: string) => void,
) => {
  const listeners = dataCentres.map((dataCentre) => {
    const server = serverFor(dataCentre)
    return { ...dataCentre, server, close: closerOf(server) }
  })

  return {
    /**
     * Returns the base URL and the address of each data centre. Throws UsageError when it cannot listen on an address.
     */
    async listen() {
      const urls: Record<string, string> = {}
      const listening: Record<string, string> = {}
      for (const { id, port, baseUrl, server } of listeners) {
        const taken = await listen(server, host, port).catch((error) => {
          const refusal = refusals[String(systemCodeOf(error))]?.(host, port)
          throw refusal === undefined ? error : new UsageError(refusal)
        })
        listening[id] = withPort(taken.address, taken.port)
        urls[id] = baseUrl ?? `${scheme}://${withPort(anyAddress.has(taken.address) ? ownAddress() : host, taken.port)}`
      }
      return { urls, listening }
    },

    /** Waits for running requests. Reports how many there are, and how many of them it cuts off. */
    async close(): Promise<void> {
      const open = listeners.filter(({ server }) => server.listening)
      await Promise.all(open.map(({ close }) => close((closing) => say(sentenceOf(closing)))))
    },
  }
}
