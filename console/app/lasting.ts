import type { SiteClient } from '../../client/src/index.ts'

/**
 * The same object for as long as the page is there, which has the members of another one: of the one that there is when
 * they are asked for.
 */
const follow = <Part extends object>(now: () => Part): Part =>
  new Proxy(now(), { get: (_, name) => Reflect.get(now(), name) })

/**
 * A client of one site that outlives its token: once somebody has signed in again, it works with the new one. So
 * nothing that is under way, or waits to be repeated, has to begin anew.
 */
export const lastingClient = (now: () => SiteClient): SiteClient => ({
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
})
