import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

const translated = ipaddr.parseCIDR('64:ff9b::/96')

// IPv6 has no other public addresses.
const assigned = ipaddr.parseCIDR('2000::/3')

// The agent on virtual machines of Azure has this address, which looks public.
const metadata = '168.63.129.16'

const isOwn = (address: string): boolean =>
  Object.values(networkInterfaces()).some((addresses = []) => addresses.some((own) => own.address === address))

/** V-14. NAT64 addresses are judged by the IPv4 address in them. */
export const isPublic = (text: string): boolean => {
  const address = ipaddr.process(text)
  if (address instanceof ipaddr.IPv6) {
    if (address.match(translated)) return isPublic(ipaddr.fromByteArray(address.toByteArray().slice(-4)).toString())
    if (!address.match(assigned)) return false
  }
  return address.range() === 'unicast' && address.toString() !== metadata && !isOwn(address.toString())
}
