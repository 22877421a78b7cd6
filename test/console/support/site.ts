import type { Files, SiteClient } from '../../../client/src/index.ts'

const missing = (name: string) => () => {
  throw new Error(`The test does not define the call "${name}".`)
}

/** A site whose files behave as given. All other calls fail. */
export const siteOf = (files: Partial<Files>): SiteClient => {
  const own = new Proxy(files, { get: (target, name) => Reflect.get(target, name) ?? missing(String(name)) })
  return new Proxy({ files: own } as unknown as SiteClient, {
    get: (target, name) => Reflect.get(target, name) ?? missing(String(name)),
  })
}
