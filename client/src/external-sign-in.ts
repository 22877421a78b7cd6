import { openCall, readUrl, type Service } from './connect.ts'
import { listIssuers } from './generated/operations.gen.ts'

/** The ids of the issuers through which people can sign in. */
export const findIssuers = async (options: Service): Promise<readonly string[]> => {
  const { data } = await listIssuers(openCall(options), {})
  return data.items.map(({ id }) => id)
}

const inBase64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** `verifier` is secret. */
export interface ExternalSignIn {
  readonly address: string
  readonly verifier: string
}

/**
 * Open the address in a browser. The issuer sends the browser back to the console, with a one-time code after `#`.
 * `signIn` takes this code with the verifier. A page needs https or 127.0.0.1 for this.
 */
export const beginSignIn = async ({ url }: Pick<Service, 'url'>, issuer: string): Promise<ExternalSignIn> => {
  const verifier = inBase64Url(crypto.getRandomValues(new Uint8Array(32)))
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const challenge = inBase64Url(new Uint8Array(digest))
  const address = `${readUrl(url)}/api/v2/admin/sign-in/${encodeURIComponent(issuer)}?challenge=${challenge}`
  return { address, verifier }
}
