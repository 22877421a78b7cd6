const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** An IPv4 address that a socket shows as IPv6 becomes IPv4. */
export const plainAddress = (address: string): string => mapped.exec(address)?.[1] ?? address

export const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && (address === '::1' || /^127\./.test(address))
