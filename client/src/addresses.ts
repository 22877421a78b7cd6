import { ServiceError } from './service-error.ts'

export const hostOf = (url: string): string => new URL(url).host

/** Never sends a token of an https address to an http address (T-36). Errors: a `ServiceError`. */
export const refuseDowngrade = (from: string, to: string): void => {
  if (!(from.startsWith('https:') && to.startsWith('http:'))) return
  throw new ServiceError({
    status: 0,
    code: 0,
    message:
      `${new URL(from).origin} returned the unencrypted address ${new URL(to).origin}. Nothing was sent ` +
      'there. Ask the operator of the service to set --base-url to an https address.',
  })
}

export const untrustedRedirect = (status: number, target: string): ServiceError =>
  new ServiceError({
    status,
    code: status,
    message:
      `The service redirects to ${hostOf(target)}, where the token is not valid. Set the URL to the address ` +
      'of the service that issued the token.',
  })

export const tooManyRedirects = (target: string): ServiceError =>
  new ServiceError({
    status: 301,
    code: 301,
    message:
      `The service redirects again and again, last to ${hostOf(target)}. Report this to the operator of the ` +
      'service.',
  })

export const untrustedAddress = (url: string): ServiceError =>
  new ServiceError({
    status: 0,
    code: 0,
    message:
      `The token is not valid for ${hostOf(url)}. Nothing was sent there. Use the address of the service ` +
      'that issued the token.',
  })

// A service behind a proxy may return an address that only its own machine can reach.
export const addressNote = (url: string, base: string): string =>
  url.startsWith(`${base}/`)
    ? ''
    : ` The service at ${base} gave the address ${new URL(url).origin}. If this address is wrong, ask the operator ` +
      'to correct it with --base-url (docs/settings.md).'
