import { refusal, type ServiceError } from './service-error.ts'

export const hostOf = (url: string): string => new URL(url).host

/** Never sends a token of an https address to an http address (T-36). Errors: a `ServiceError`. */
export const refuseDowngrade = (from: string, to: string): void => {
  if (!(from.startsWith('https:') && to.startsWith('http:'))) return
  throw refusal(
    0,
    0,
    `${new URL(from).origin} returned the unencrypted address ${new URL(to).origin}. Nothing was sent ` +
      'there. Ask the operator to set --base-url to an https address.',
  )
}

export const untrustedRedirect = (status: number, target: string): ServiceError =>
  refusal(
    status,
    status,
    `The service redirects to ${hostOf(target)}, where the token is not valid. Set the URL to the address ` +
      'of the service that issued the token.',
  )

export const tooManyRedirects = (target: string): ServiceError =>
  refusal(301, 301, `The service redirects again and again, last to ${hostOf(target)}. Report this to the operator.`)

export const untrustedAddress = (url: string): ServiceError =>
  refusal(
    0,
    0,
    `The token is not valid for ${hostOf(url)}. Nothing was sent there. Use the address of the service ` +
      'that issued the token.',
  )

// A service behind a proxy may return an address that only its own machine can reach.
export const addressNote = (url: string, base: string): string =>
  url.startsWith(`${base}/`)
    ? ''
    : ` The service at ${base} gave the address ${new URL(url).origin}. If this address is wrong, ask the operator ` +
      'to correct it with --base-url (docs/settings.md).'
