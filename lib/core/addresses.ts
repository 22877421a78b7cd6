import { isIPv6 } from 'node:net'

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** An IPv4 address that a socket shows as IPv6 becomes IPv4. */
export const plainAddress = (address: string): string => mapped.exec(address)?.[1] ?? address

export const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && (address === '::1' || /^127\./.test(address))

const groupsIn = (text: string): readonly string[] => (text === '' ? [] : text.split(':'))

/** an IPv6 address counts with its first 64 bits, because one subscriber has all addresses with these bits. */
export const networkOf = (address: string): string => {
  if (!isIPv6(address)) return address
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').toLowerCase().split('::')
  const [first, last] = [groupsIn(head), groupsIn(tail ?? '')]
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0')
  const network = [...first, ...zeros, ...last].slice(0, 4)
  return network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')
}
