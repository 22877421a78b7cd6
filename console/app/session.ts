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
  /** The sites of a token, which signs nobody in. */
  lookUp(token: string): Promise<Sites>
  /** Signs in with a token that was looked up. */
  enter(token: string, sites: Sites, keep: Keep): void
  /** Signs in with the token that was kept: also after a failure that says nothing of the token. */
  goOn(): Promise<void>
  hasKept(): boolean
  /** The token is the one that is signed in, or will be. */
  isOwn(token: string): boolean
  /** The token that is signed in is kept on the device, and works. */
  isOnDevice(): boolean
  signOut(): void
}

const key = 'site-admin-token'

export const isRefused = (error: unknown): boolean => error instanceof ServiceError && error.status === 401

/** The kept tokens: the one of the tab comes first, and leaves the one of the device alone. */
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
   * A kept token that is refused is forgotten; a new one is kept when nothing is known against it, so that it can be
   * tried again.
   */
  const fail = (error: unknown, wanted: string, keep: Keep | undefined) => {
    failure.value = error
    if (isRefused(error)) {
      if (!keep) kept.forget(wanted)
    } else if (keep && !sites.value) kept.write(wanted, keep)
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
    goOn() {
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

/** The token that the address brings along behind `#`, and the fragment without it. No server sees a fragment. */
export const takeToken = (hash: string): { readonly token: string | undefined; readonly rest: string } => {
  const [, token, rest = ''] = /^#token=([^&]*)&?(.*)$/s.exec(hash) ?? []
  return token === undefined ? { token, rest: hash } : { token, rest: rest && `#${rest}` }
}
