import type { SiteClient } from '../../client/src/index.ts'

/** A stable object. Each access to a member reads the member from the current result of `now()`. */
const follow = <Part extends object>(now: () => Part): Part =>
  new Proxy(now(), { get: (_, name) => Reflect.get(now(), name) })

/**
 * A client that outlives its token. After a new sign-in, it uses the new token, so that running and repeated calls
 * continue.
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
  webhooks: follow(() => now().webhooks),
})
