import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { plainAddress } from '../lib/http/request.ts'

const familyOf = (address: string): 'ipv4' | 'ipv6' | undefined => {
  if (isIPv4(address)) return 'ipv4'
  return isIPv6(address) ? 'ipv6' : undefined
}

export const readBlocks = (cidrs: readonly string[]): BlockList | undefined => {
  const blocks = new BlockList()
  for (const cidr of cidrs) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(cidr.trim()) ?? []
    const family = familyOf(address)
    const most = family === 'ipv4' ? 32 : 128
    const prefix = Number(bits ?? most)
    if (!family || prefix > most) return undefined
    blocks.addSubnet(address, prefix, family)
  }
  return blocks
}

// Some proxies add the port: `192.0.2.1:5000` or `[2001:db8::1]:5000`.
const withPort = /^(?:([\d.]+):\d+|\[([^\]]+)\](?::\d+)?)$/

const addressIn = (hop: string): string => {
  const [, ipv4, ipv6] = withPort.exec(hop) ?? []
  return plainAddress(ipv4 ?? ipv6 ?? hop)
}

/** The result is undefined when the address of the caller is unknown. */
export const createAddressOf = (trusted: BlockList | undefined, isBehindProxy: boolean) => {
  const isTrusted = (hop: string): boolean => {
    const family = familyOf(hop)
    return family !== undefined && trusted?.check(hop, family) === true
  }

  return ({ socket, headers }: IncomingMessage): string | undefined => {
    const peer = plainAddress(socket.remoteAddress ?? '')
    if (!trusted) return isBehindProxy ? undefined : peer
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
    const hops = [...forwarded.map((hop) => addressIn(hop.trim())).filter((hop) => hop !== ''), peer]
    const caller = hops.findLast((hop) => !isTrusted(hop)) ?? hops[0]
    return caller !== undefined && familyOf(caller) ? caller : undefined
  }
}
