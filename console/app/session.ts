import { type Signal, signal } from '@preact/signals'
import { findSites, ServiceError, type Sites } from '../../client/src/index.ts'

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** For the tab, or for the device. */
type Keep = 'tab' | 'device'

interface SessionOptions {
  /** The address of the service. */
  readonly url: string
  readonly stores: Readonly<Record<Keep, Store>>
  readonly fetch?: typeof fetch
}

export interface Session {
  /** The sites of the token; undefined while nobody is signed in. */
  readonly sites: Signal<Sites | undefined>
  /** The token has stopped working: what is on the page stays, until somebody signs in again. */
  readonly isExpired: Signal<boolean>
  readonly isBusy: Signal<boolean>
  readonly failure: Signal<unknown>
  signIn(token: string, keep: Keep): Promise<void>
  /** Signs in with the token that was kept: also after a failure that says nothing of the token. */
  goOn(): Promise<void>
  hasKept(): boolean
  signOut(): void
}

const key = 'site-admin-token'

const isRefused = (error: unknown): boolean => error instanceof ServiceError && error.status === 401

export const createSession = ({ url, stores, ...options }: SessionOptions): Session => {
  const sites = signal<Sites | undefined>(undefined)
  const isExpired = signal(false)
  const isBusy = signal(false)
  const failure = signal<unknown>(undefined)
  let token = ''

  const readKept = () => stores.tab.getItem(key) ?? stores.device.getItem(key)

  const forget = () => {
    for (const store of Object.values(stores)) store.removeItem(key)
  }

  const remember = (wanted: string, keep: Keep) => {
    forget()
    stores[keep].setItem(key, wanted)
  }

  /**
   * A kept token that is refused is forgotten; a new one is kept when nothing is known against it, so that it can be
   * tried again.
   */
  const fail = (error: unknown, wanted: string, keep: Keep | undefined) => {
    failure.value = error
    if (isRefused(error)) {
      if (!keep) forget()
    } else if (keep && !sites.value) remember(wanted, keep)
  }

  /** Sees a token that has stopped working, whatever was asked for. */
  const fetchWith = (own: string): typeof fetch => {
    const send = options.fetch ?? ((...request) => fetch(...request))
    return async (...request) => {
      const response = await send(...request)
      if (response.status === 401 && own === token && sites.value) isExpired.value = true
      return response
    }
  }

  const open = async (wanted: string, keep: Keep | undefined): Promise<void> => {
    isBusy.value = true
    failure.value = undefined
    try {
      const found = await findSites({ url, token: wanted, fetch: fetchWith(wanted) })
      token = wanted
      if (keep) remember(wanted, keep)
      sites.value = found
      isExpired.value = false
    } catch (error) {
      fail(error, wanted, keep)
    } finally {
      isBusy.value = false
    }
  }

  return {
    sites,
    isExpired,
    isBusy,
    failure,
    signIn: (given, keep) => open(given.trim(), keep),
    hasKept: () => readKept() !== null,
    async goOn() {
      const kept = readKept()
      if (kept) await open(kept, undefined)
    },
    signOut() {
      forget()
      token = ''
      sites.value = undefined
      isExpired.value = false
      failure.value = undefined
    },
  }
}

/** The token that the address brings along behind `#`, and the fragment without it. No server sees a fragment. */
export const takeToken = (hash: string): { readonly token: string | undefined; readonly rest: string } => {
  const [, token, rest = ''] = /^#token=([^&]*)&?(.*)$/s.exec(hash) ?? []
  return token === undefined ? { token, rest: hash } : { token, rest: rest && `#${rest}` }
}
