import type { Files, FolderContent, SiteClient } from '../../../client/src/index.ts'

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

/** An entry of a folder, by default a file. */
export const entry = (name: string, rest: Partial<FolderContent> = {}): FolderContent => ({
  name,
  type: 'file',
  size: 1,
  lastModified: null,
  links: [],
  ...rest,
})
