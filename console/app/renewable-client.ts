import type { SiteClient } from '../../client/src/index.ts'

/** An object that stays the same while the page is open. Each member is read from the current `now()`. */
const follow = <Part extends object>(now: () => Part): Part =>
  new Proxy(now(), { get: (_, name) => Reflect.get(now(), name) })

/**
 * A client that outlives its token: after a new sign-in it uses the new token, so running and repeated work continues.
 */
export const createRenewableClient = (now: () => SiteClient): SiteClient => ({
  get site() {
    return now().site
  },
  get sites() {
    return now().sites
  },
  files: follow(() => now().files),
  forms: follow(() => now().forms),
  categories: follow(() => now().categories),
  changes: follow(() => now().changes),
  access: follow(() => now().access),
})
