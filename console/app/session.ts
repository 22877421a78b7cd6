import { type Signal, signal } from '@preact/signals'
import { findSites, ServiceError, type Sites } from '../../client/src/index.ts'

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

type Keep = 'tab' | 'device'

interface SessionOptions {
  readonly url: string
  readonly stores: Readonly<Record<Keep, Store>>
  readonly fetch?: typeof fetch
}

export interface Session {
  readonly sites: Signal<Sites | undefined>
  /** True when the token has stopped working. The page stays as it is until the next sign-in. */
  readonly isExpired: Signal<boolean>
  readonly isBusy: Signal<boolean>
  readonly failure: Signal<unknown>
  signIn(token: string, keep: Keep): Promise<void>
  /** Tests a token without signing in. */
  lookUp(token: string): Promise<Sites>
  enter(token: string, sites: Sites, keep: Keep): void
  /** Signs in with the saved token. Tries again after a failure that has nothing to do with the token. */
  restoreSession(): Promise<void>
  hasKept(): boolean
  /** True if this token is signed in, or is about to be. */
  isOwn(token: string): boolean
  /** True if the signed-in token works and is saved on the device. */
  isOnDevice(): boolean
  signOut(): void
}

const key = 'site-admin-token'

export const isRefused = (error: unknown): boolean => error instanceof ServiceError && error.status === 401

/** The token of the tab has priority. It does not replace the token of the device. */
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

export const createSession = ({ url, stores, ...options }: SessionOptions): Session => {
  const sites = signal<Sites | undefined>(undefined)
  const isExpired = signal(false)
  const isBusy = signal(false)
  const failure = signal<unknown>(undefined)
  const kept = createKept(stores)
  let token = ''
  let opening = Promise.resolve()

  /**
   * Forgets a saved token that the service refuses. Saves a new token unless the service refuses it: after a failure of
   * the network, it can be tried again.
   */
  const fail = (error: unknown, wanted: string, keep: Keep | undefined) => {
    failure.value = error
    if (isRefused(error)) {
      if (!keep) kept.forget(wanted)
    } else if (keep && !sites.value) kept.write(wanted, keep)
  }

  const fetchWith = (own: string): typeof fetch => {
    const send = options.fetch ?? ((...request) => fetch(...request))
    return async (...request) => {
      const response = await send(...request)
      if (response.status === 401 && own === token && sites.value) isExpired.value = true
      return response
    }
  }

  const lookUp = (wanted: string) => findSites({ url, token: wanted, fetch: fetchWith(wanted) })

  const enter = (wanted: string, found: Sites, keep: Keep | undefined) => {
    if (isExpired.value) kept.forget(token)
    if (keep) kept.write(wanted, keep)
    token = wanted
    sites.value = found
    isExpired.value = false
  }

  const open = async (wanted: string, keep: Keep | undefined): Promise<void> => {
    isBusy.value = true
    failure.value = undefined
    try {
      enter(wanted, await lookUp(wanted), keep)
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
    lookUp,
    enter,
    signIn: (given, keep) => {
      opening = open(given.trim(), keep)
      return opening
    },
    hasKept: () => kept.read() !== null,
    isOwn: (given) => given === (sites.value ? token : kept.read()),
    isOnDevice: () => !isExpired.value && kept.isOnDevice(token),
    restoreSession() {
      const wanted = kept.read()
      if (wanted && !isBusy.value) opening = open(wanted, undefined)
      return opening
    },
    signOut() {
      kept.forget(token)
      token = ''
      sites.value = undefined
      isExpired.value = false
      failure.value = undefined
    },
  }
}

/** The token in the fragment of the address, and the fragment without it. Servers never receive a fragment. */
export const takeToken = (hash: string): { readonly token: string | undefined; readonly rest: string } => {
  const [, token, rest = ''] = /^#token=([^&]*)&?(.*)$/s.exec(hash) ?? []
  return token === undefined ? { token, rest: hash } : { token, rest: rest && `#${rest}` }
}
