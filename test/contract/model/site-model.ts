import type { BothSites } from './both-stores.ts'

interface Field {
  readonly id: number
  readonly mandatory: boolean
}

/** The state that the answers must show, written as simply as possible. */
export const createSiteModel = () => ({
  files: new Map<string, string>(),
  drafts: new Map<string, string>(),
  folders: new Set<string>(),
  /** Drafts may exist that the model does not know, because no list shows drafts. */
  hasOtherDrafts: false,
  /** Fields sorted by order. */
  fields: new Map<number, Field>(),
  /** Maps `category/kind/object` to displayable. */
  links: new Map<string, number>(),
})
export type SiteModel = ReturnType<typeof createSiteModel>

const isPage = (path: string): boolean => /\.html$/.test(path) && !/^templates\//i.test(path)

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
export const join = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

/**
 * The spelling of a folder: as written if a file or folder with that path exists, otherwise the first spelling by code
 * point that differs only in case (S-3, S-4).
 */
export const spellFolder = ({ files, folders }: SiteModel, path: string): string =>
  path.split('/').reduce((above, name) => {
    const written = join(above, name)
    const others = [...folders].filter((one) => one.toLowerCase() === written.toLowerCase() && parentOf(one) === above)
    return folders.has(written) || files.has(written) ? written : (others.sort()[0] ?? written)
  }, '')

/** With a condition, a path is used as written (S-7). Otherwise its folders are looked up without case (S-5). */
export const spell = (model: SiteModel, path: string, isConditional: boolean): string =>
  isConditional || parentOf(path) === '' ? path : join(spellFolder(model, parentOf(path)), nameOf(path))

export const isThere = ({ files, drafts, folders }: SiteModel, path: string): boolean =>
  files.has(path) || drafts.has(path) || folders.has(path)

export const addFolder = (model: SiteModel, path: string): void => {
  for (let folder = path; folder !== ''; folder = parentOf(folder)) model.folders.add(folder)
}

/** A form keeps the draft, and publishing removes it (S-48). */
export const putFile = (model: SiteModel, path: string, content: string, asDraft: boolean, keepsDraft = false) => {
  addFolder(model, parentOf(path))
  const isDraft = asDraft && isPage(path)
  model[isDraft ? 'drafts' : 'files'].set(path, content)
  if (!isDraft && !keepsDraft) model.drafts.delete(path)
}

/** A path names a file or draft, otherwise a folder with everything in it. A copy leaves out drafts (S-58). */
const partOf = ({ files, drafts }: SiteModel, path: string, withDrafts = true) => {
  const isFile = files.has(path) || (withDrafts && drafts.has(path))
  const has = (one: string) => one === path || (!isFile && one.startsWith(`${path}/`))
  return { isFile, has }
}
type Part = ReturnType<typeof partOf>

const removePart = ({ files, drafts, folders }: SiteModel, { isFile, has }: Part): void => {
  for (const kind of isFile ? [files, drafts] : [files, drafts, folders]) {
    for (const path of kind.keys()) if (has(path)) kind.delete(path)
  }
}

const copyPart = (model: SiteModel, { isFile, has }: Part, moved: (path: string) => string): void => {
  for (const [path, content] of [...model.files]) if (has(path)) model.files.set(moved(path), content)
  for (const path of isFile ? [] : [...model.folders]) if (has(path)) model.folders.add(moved(path))
}

/** `draftOnly` matters only for pages (S-99, S-100). */
export const removePath = (model: SiteModel, path: string, draftOnly: boolean): void => {
  const part = partOf(model, path)
  if (draftOnly && isPage(path) && part.isFile) model.drafts.delete(path)
  else removePart(model, part)
}

export const copyPath = (model: SiteModel, from: string, to: string): void => {
  addFolder(model, parentOf(to))
  copyPart(model, partOf(model, from, false), (path) => to + path.slice(from.length))
}

export const movePath = (model: SiteModel, from: string, to: string): void => {
  if (from === to) return
  addFolder(model, parentOf(to))
  const part = partOf(model, from)
  const moved = (path: string) => to + path.slice(from.length)
  const drafts = [...model.drafts].filter(([path]) => part.has(path))
  copyPart(model, part, moved)
  removePart(model, part)
  for (const [path, content] of drafts) {
    // Only pages have drafts (S-19). At another path a draft becomes the live file, unless a live file exists (S-111).
    if (isPage(moved(path))) model.drafts.set(moved(path), content)
    else if (!model.files.has(moved(path))) model.files.set(moved(path), content)
  }
}

/** If a field gets a used order, the field at this order and the fields directly after it move down (F-23). */
export const placeField = ({ fields }: SiteModel, placed: Field, wanted?: number): void => {
  let order = wanted ?? Math.max(0, ...fields.keys()) + 1
  for (let field = placed; ; order += 1) {
    const next = fields.get(order)
    fields.set(order, field)
    if (!next) return
    field = next
  }
}

const encode = (path: string): string => path.split('/').map(encodeURIComponent).join('/')
export const targetOf = (path: string) =>
  ({ api: 'v2', path: path === '' ? 'storage' : `storage/${encode(path)}` }) as const

export const readFiles = async (sites: BothSites, folder = ''): Promise<Pick<SiteModel, 'files' | 'folders'>> => {
  const [files, folders] = [new Map<string, string>(), new Set<string>()]
  const { contents } = (await sites.ask({ method: 'GET', ...targetOf(folder), query: { meta: '' } })).json
  for (const { type, name } of contents as readonly { readonly type: string; readonly name: string }[]) {
    const path = join(folder, name)
    if (type === 'file') files.set(path, (await sites.ask({ method: 'GET', ...targetOf(path) })).text)
    else folders.add(path)
    const below = type === 'file' ? createSiteModel() : await readFiles(sites, path)
    for (const [one, content] of below.files) files.set(one, content)
    for (const one of below.folders) folders.add(one)
  }
  return { files, folders }
}

/** After a restore, the model reads all files again, because modelling a restore would take much code. */
export const learnFiles = async (model: SiteModel, sites: BothSites): Promise<void> => {
  model.drafts.clear()
  Object.assign(model, await readFiles(sites), { hasOtherDrafts: true })
}
