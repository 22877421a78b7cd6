export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** A browser may forbid its storage to the page, or the storage is full. Then it keeps nothing. */
const createStore = (name: 'localStorage' | 'sessionStorage'): Store => {
  const attempt = <Value>(work: (storage: Storage) => Value): Value | null => {
    try {
      return work(globalThis[name])
    } catch {
      return null
    }
  }
  return {
    getItem: (key) => attempt((storage) => storage.getItem(key)),
    setItem: (key, value) => void attempt((storage) => storage.setItem(key, value)),
    removeItem: (key) => void attempt((storage) => storage.removeItem(key)),
  }
}

export const tabStore = createStore('sessionStorage')
export const deviceStore = createStore('localStorage')
