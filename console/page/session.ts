import { type Signal, signal } from '@preact/signals'
import {
  acceptInvitation,
  findSites,
  type Me,
  signIn as requestToken,
  ServiceError,
  type Sites,
} from '../../client/src/index.ts'
import { hasStatus } from '../../client/src/service-error.ts'
import type { Store } from '../parts/stores.ts'
import { decode } from '../route/decode.ts'
import { texts } from '../texts/texts.ts'
import { createNewestRead } from './newest-read.ts'

export type Keep = 'tab' | 'device'

interface SessionOptions {
  readonly url: string
  readonly stores: Readonly<Record<Keep, Store>>
  readonly fetch?: typeof fetch
  /** The site whose page has unsaved work. No token without this site replaces the token of the session. */
  readonly heldSite?: () => number | undefined
}

/** After it is shut, the requests of an entrance get no answer. */
interface Gate {
  isShut: boolean
}

/** The sites of a token, and its owner. A token without sites has no known owner. */
export interface Entrance extends Sites {
  readonly me: Me | undefined
  readonly gate: Gate
}

type Proof =
  | { readonly token: string }
  | { readonly username: string; readonly password: string }
  | { readonly invitation: string; readonly password: string }
  | { readonly code: string; readonly verifier: string }

export interface Session {
  readonly url: string
  readonly entrance: Signal<Entrance | undefined>
  /** True when the token has stopped working. The page stays as it is until the next sign-in. */
  readonly isExpired: Signal<boolean>
  readonly isBusy: Signal<boolean>
  readonly failure: Signal<unknown>
  signIn(proof: Proof, keep: Keep): Promise<void>
  /** Tests a token without signing in. */
  lookUp(token: string): Promise<Entrance>
  enter(token: string, entrance: Entrance, keep: Keep): void
  /** Signs in with the saved token. Tries again after a failure that has nothing to do with the token. */
  restoreSession(): Promise<void>
  hasKept(): boolean
  /** True if this token is signed in, or is about to be. */
  isOwn(token: string): boolean
  /** True if the token of this session is saved on the device. */
  isOnDevice(): boolean
  /**
   * Forgets the token, and revokes a token of a sign-in. A token of an operator keeps working. With `all`, ends every
   * session of the person first, and stays signed in if that fails.
   */
  signOut(options?: { readonly all?: true }): Promise<void>
  /** Reads the sites and rights again, if possible. The page then shows what the caller may do now. */
  readRights(): Promise<void>
}

const key = 'site-admin-token'

const signInRefused = 101001

export const isRefused = (error: unknown): boolean => hasStatus(error, 401)

/** The service also refuses a wrong old password. Then the token still works. */
const isTokenRefused = (status: number, code: unknown): boolean => status === 401 && code !== signInRefused

/** The site may be missing too. */
const isRightMissing = (code: unknown): boolean => [100002, 100403, 104003, 104023].includes(Number(code))

const isSignOut = (...[address, options]: Parameters<typeof fetch>): boolean =>
  options?.method === 'DELETE' && String(address).includes('/admin/tokens')

const never = () => new Promise<never>(() => {})

const codeOf = async (response: Response): Promise<unknown> => {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  return Object(body).code
}

const rightsIn = ({ list, me }: Entrance): string => JSON.stringify([list, me?.sites])

/** The token of the tab has priority over the token of the device, and does not replace it. */
const createKept = (stores: SessionOptions['stores']) => ({
  read: () => stores.tab.getItem(key) ?? stores.device.getItem(key),
  isOnDevice: (token: string) => stores.device.getItem(key) === token,
  write(token: string, keep: Keep) {
    stores.tab.removeItem(key)
    stores[keep].setItem(key, token)
  },
  forget(token: string) {
    for (const store of Object.values(stores)) if (store.getItem(key) === token) store.removeItem(key)
  },
})

export const createSession = ({ url, stores, heldSite, ...options }: SessionOptions): Session => {
  const entrance = signal<Entrance>()
  const isExpired = signal(false)
  const isBusy = signal(false)
  const failure = signal<unknown>()
  const kept = createKept(stores)
  // Those of the current session.
  const gates: Gate[] = []
  let token = ''
  let opening = Promise.resolve()

  /**
   * Forgets a saved token that the service refuses. Saves a new token unless the service refuses it. So after a failure
   * of the network, the page can try the token again.
   */
  const fail = (error: unknown, wanted: string, keep: Keep | undefined) => {
    failure.value = error
    if (isRefused(error)) {
      if (!keep) kept.forget(wanted)
    } else if (keep && !entrance.value) kept.write(wanted, keep)
  }

  const noteRefusal = async (response: Response) => {
    const own = token
    const code = await codeOf(response)
    // Meanwhile, the person may have signed out.
    if (own !== token) return
    if (isTokenRefused(response.status, code)) {
      isExpired.value = true
      // Another server, such as a proxy, may also answer 401.
      if (typeof code === 'number') kept.forget(own)
    }
    if (isRightMissing(code)) readRights()
  }

  const fetchWith = (own: string, gate?: Gate): typeof fetch => {
    const send = options.fetch ?? ((...request) => fetch(...request))
    return async (...request) => {
      // Steps that began before the sign-out stay here: the page sends nothing more, and shows nothing of them.
      const isShut = () => gate?.isShut && !isSignOut(...request)
      if (isShut()) return never()
      const response = await send(...request)
      if (response.status >= 400 && own === token && entrance.value) await noteRefusal(response)
      return isShut() ? never() : response
    }
  }

  const covers = ({ list }: Sites): boolean => {
    const held = heldSite?.()
    return held === undefined || list.some(({ id }) => id === held)
  }

  const lookUp = async (wanted: string): Promise<Entrance> => {
    const gate: Gate = { isShut: false }
    const sites = await findSites({ url, token: wanted, fetch: fetchWith(wanted, gate) })
    const [first] = sites.list
    return { ...sites, gate, me: first && (await sites.choose(first.id).access.me()) }
  }

  const show = (found: Entrance) => {
    gates.push(found.gate)
    entrance.value = found
  }

  const readNow = async (): Promise<void> => {
    const own = token
    const found = entrance.value && (await lookUp(own).catch(() => undefined))
    const now = entrance.value
    if (found && own === token && now && covers(found) && rightsIn(found) !== rightsIn(now)) show(found)
  }

  // Several requests may be refused at once. A running read may have begun before the newest change of the rights.
  const { runLater } = createNewestRead()
  const readRights = () => runLater(readNow)

  /**
   * Makes only one attempt, because the service may ask for a long wait before the next one. So the page shows a
   * refusal at once.
   */
  const tokenFor = (proof: Proof, keep: Keep): Promise<string> | string => {
    if ('token' in proof) return proof.token.trim()
    const service = { url, fetch: fetchWith(''), patience: { attempts: 1 } }
    const tokenExpiryPeriod = keep === 'device' ? 'long' : 'short'
    return 'invitation' in proof
      ? acceptInvitation({ ...service, ...proof, tokenExpiryPeriod })
      : requestToken({ ...service, ...proof, tokenExpiryPeriod })
  }

  const enter = (wanted: string, found: Entrance, keep: Keep | undefined) => {
    if (!covers(found)) throw new ServiceError({ status: 403, code: 0, message: texts.value.signIn.otherSites })
    if (keep) kept.write(wanted, keep)
    token = wanted
    show(found)
    isExpired.value = false
  }

  const open = async (obtain: () => Promise<string> | string, keep: Keep | undefined): Promise<void> => {
    let wanted: string | undefined
    isBusy.value = true
    failure.value = undefined
    try {
      wanted = await obtain()
      enter(wanted, await lookUp(wanted), keep)
    } catch (error) {
      if (wanted === undefined) failure.value = error
      else fail(error, wanted, keep)
    } finally {
      isBusy.value = false
    }
  }

  const forget = () => {
    kept.forget(token)
    for (const gate of gates.splice(0)) gate.isShut = true
    token = ''
    entrance.value = undefined
    isExpired.value = false
    failure.value = undefined
  }

  const signOut = async ({ all }: { readonly all?: true } = {}): Promise<void> => {
    const { me, list, choose } = entrance.value ?? {}
    const [first] = list ?? []
    const access = !isExpired.value && me?.kind === 'session' && first ? choose?.(first.id).access : undefined
    const own = token
    if (all) await access?.signOut({ all })
    // Meanwhile, another sign-out may have ended this session.
    if (own !== token) return
    forget()
    if (all) return
    await access?.signOut().catch((error: unknown) => {
      // A refused token is the token of a session that has ended.
      if (!isRefused(error)) throw error
    })
  }

  return {
    url,
    entrance,
    isExpired,
    isBusy,
    failure,
    lookUp,
    enter,
    signIn: (proof, keep) => {
      opening = open(() => tokenFor(proof, keep), keep)
      return opening
    },
    hasKept: () => kept.read() !== null,
    isOwn: (given) => given === (entrance.value ? token : kept.read()),
    isOnDevice: () => kept.isOnDevice(token),
    restoreSession() {
      const wanted = kept.read()
      if (wanted && !isBusy.value) opening = open(() => wanted, undefined)
      return opening
    },
    signOut,
    readRights,
  }
}

interface Fragment {
  readonly token?: string
  readonly invitation?: string
  readonly outcome?: string
  readonly rest: string
}

/** Splits the fragment of the address into its secret and the rest. Browsers never send a fragment to a server. */
export const takeSecret = (hash: string): Fragment => {
  const [, name, secret = '', rest = ''] = /^#(token|invitation|code|error)=([^&]*)&?(.*)$/s.exec(hash) ?? []
  if (name === undefined) return { rest: hash }
  if (name === 'code' || name === 'error') return { outcome: hash.slice(1), rest: '' }
  return { [name]: name === 'token' ? secret.trim() : decode(secret), rest: rest && `#${rest}` }
}
