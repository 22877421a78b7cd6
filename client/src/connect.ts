import { type Access, createAccess } from './access.ts'
import { refuseDowngrade } from './addresses.ts'
import type { Fetch } from './call.ts'
import { type Categories, createCategories } from './categories.ts'
import { type Changes, createChanges } from './changes.ts'
import type { Connection } from './connection.ts'
import { createFiles, type Files } from './files.ts'
import { createForms, type Forms } from './forms.ts'
import { listSites, acceptInvitation as requestAcceptance, signIn as requestToken } from './generated/operations.gen.ts'
import type { Acceptance, SignInCode, Site } from './generated/types.gen.ts'
import { addressOf, type SendCall } from './operation.ts'
import { sendChange } from './send-change.ts'
import { answerOf, hasStatus, isList, refusal } from './service-error.ts'
import { createTransport, type Patience, type Send } from './transport.ts'
import { createWebhooks, type Webhooks } from './webhooks.ts'

export interface Service {
  /** The address of any data centre of the service. */
  readonly url: string
  readonly patience?: Patience
  readonly fetch?: Fetch
  /** Cancels all current and future calls of the client, with the reason of the signal. */
  readonly signal?: AbortSignal
}

export interface Credentials {
  readonly username: string
  readonly password: string
  /** The lifetime of the token: `short` is 4 hours, `long` is 2 weeks. Default: `long`. */
  readonly tokenExpiryPeriod?: 'short' | 'long'
}

/** A token or key, or the name and the password of a person. */
type Identity = { readonly token: string } | Credentials

export type ConnectOptions = Service &
  Identity & {
    /** Required if the token covers several sites. */
    readonly site?: number
  }

export interface SiteClient {
  readonly site: Site
  readonly sites: readonly Site[]
  readonly files: Files
  readonly forms: Forms
  readonly categories: Categories
  readonly changes: Changes
  readonly access: Access
  readonly webhooks: Webhooks
}

const refuse = (message: string): never => {
  throw refusal(0, 0, message)
}

export const readUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // The message does not contain the address, because logs keep messages.
  if (url?.username || url?.password) refuse('Remove the name and the password from the address of the service.')
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash)
    return refuse(`"${text}" is not the address of a service. Use an address such as https://admin.example.com.`)
  return url.href.replace(/\/+$/, '')
}

const readToken = (text: string): string =>
  /^[\x21-\x7e]+$/.test(text.trim())
    ? text.trim()
    : refuse('The token is empty or has invalid characters. Copy the token again.')

const chooseSite = (sites: readonly Site[], id: number | undefined): Site => {
  const offered = sites.map((site) => `${site.id} (${site.name})`).join(', ') || 'none'
  const [only] = sites
  if (id === undefined && sites.length === 1 && only) return only
  if (id === undefined) return refuse(`The token covers several sites. Choose a site by its id: ${offered}.`)
  return sites.find((site) => site.id === id) ?? refuse(`The token does not cover site ${id}. It covers: ${offered}.`)
}

type KnownMembers = { items: []; users: []; keys: []; id: number; name: string }

/** A repeated change of the password fails, and a repeated change of a webhook may replace its secret again. */
const isRepeatable = (method: string, address: string): boolean =>
  method === 'POST' ? address.includes('/categories') : method !== 'PUT' || !/\/(me|webhooks\/.+)$/.test(address)

/** An earlier attempt has removed this, or has ended this session, and its answer was lost. */
const isRemoved = (method: string, address: string, error: unknown): boolean =>
  method === 'DELETE' && (hasStatus(error, 404) || (hasStatus(error, 401) && address === '/api/v2/admin/tokens'))

/** Sends generated calls through the transport. */
const createCall =
  (baseUrl: string, send: Send): SendCall =>
  async <Data>(method: string, address: string, given: Parameters<SendCall>[2]) => {
    const url = `${baseUrl}${addressOf(address, given)}`
    const { body, headers } = given
    const call = {
      method,
      url,
      headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      repeatable: isRepeatable(method, address),
      body: body === undefined ? undefined : JSON.stringify(body),
    }
    const response = await sendChange(send, call, (error) => isRemoved(method, address, error))
    const isRight = ({ items, users, keys, id, name }: Partial<KnownMembers>) =>
      method !== 'GET' || (id ?? name ?? isList(items ?? users ?? keys))
    const data = await answerOf<Data & KnownMembers>(isRight, response, new URL(url).host)
    return { data, headers: response.headers }
  }

const sendTo = (
  base: string,
  { patience, fetch: send, signal }: Service,
  more: { token?: string; trustedUrls: () => readonly string[] },
): Send =>
  createTransport({
    ...patience,
    ...more,
    base,
    fetch: send ?? ((...request) => fetch(...request)),
    signal,
  })

/** Sends calls that need no token. */
export const openCall = (options: Service): SendCall => {
  const base = readUrl(options.url)
  return createCall(base, sendTo(base, options, { trustedUrls: () => [base] }))
}

/**
 * Returns a token for the person. Errors: a `ServiceError`; 101001 for a wrong name or password, or a code that is
 * unknown, used or too old.
 */
export const signIn = async (options: Service & (Credentials | SignInCode)): Promise<string> => {
  const { tokenExpiryPeriod } = options
  const proof =
    'code' in options
      ? { code: options.code, verifier: options.verifier }
      : { username: options.username, password: options.password }
  const body = { ...proof, ...(tokenExpiryPeriod && { tokenExpiryPeriod }) }
  const { data } = await requestToken(openCall(options), { body })
  return readToken('token' in data ? data.token : data.access_token)
}

/**
 * Sets the password of the invited person, and returns a token. Errors: a `ServiceError`; 101003 for an invitation that
 * is unknown, used or expired, 101013 for a weak password.
 */
export const acceptInvitation = async (options: Service & Acceptance): Promise<string> => {
  const { invitation, password, tokenExpiryPeriod } = options
  const body = { invitation, password, ...(tokenExpiryPeriod && { tokenExpiryPeriod }) }
  const { data } = await requestAcceptance(openCall(options), { body })
  return readToken(data.token)
}

export interface Sites {
  readonly list: readonly Site[]
  /** Returns a client for one site, at its data centre. The id may be left out if the token covers only one site. */
  choose(id?: number): SiteClient
}

export const findSites = async (options: Service & Identity): Promise<Sites> => {
  const base = readUrl(options.url)
  const token = 'token' in options ? readToken(options.token) : await signIn(options)
  let trustedUrls: readonly string[] = [base]
  const send = sendTo(base, options, { token, trustedUrls: () => trustedUrls })
  const { data } = await listSites(createCall(base, send), {})
  const list = data.items.map((site) => ({ ...site, url: readUrl(site.url) }))
  trustedUrls = [base, ...list.map((each) => each.url)]
  return {
    list,
    choose(id) {
      const site = chooseSite(list, id)
      const connection: Connection = { site, call: createCall(site.url, send), send }
      return {
        site,
        sites: list,
        files: createFiles(connection),
        forms: createForms(connection),
        categories: createCategories(connection),
        changes: createChanges(connection),
        access: createAccess(connection),
        webhooks: createWebhooks(connection),
      }
    },
  }
}

/**
 * Connects to one site of the token, at its data centre. Errors: a `ServiceError`; 101000 for a wrong token, 101001 for a
 * wrong name or password.
 */
export const connect = async ({ site, ...options }: ConnectOptions): Promise<SiteClient> => {
  const client = (await findSites(options)).choose(site)
  refuseDowngrade(readUrl(options.url), client.site.url)
  return client
}
