import { isWithin } from '../uploads/paths.ts'

type Area = 'files' | 'forms' | 'categories' | 'history' | 'access'
type Level = 'read' | 'write'
export type AreaRight = `${Area}:${Level}`

/**
 * The rights of the token on one site. The service checks the rights itself. Here they only decide which views and
 * buttons are shown.
 */
export interface Rights {
  /** For files, a right in one folder is enough. */
  has(right: AreaRight): boolean
  /** True if the token has all of the given rights. */
  include(texts: readonly string[]): boolean
  canRead(path: string): boolean
  /**
   * Callers who may write in a folder can rename, move and remove its entries. To change the folder itself, they need a
   * right on its parent.
   */
  canWrite(path: string): boolean
}

export interface Right {
  readonly area: string
  readonly level: string
  /** The folder without slashes at its ends. Empty for a right on the whole area. */
  readonly folder: string
}

/** Reads a right such as `files:write:/news`. A folder may contain colons. */
export const parseRight = (text: string): Right => {
  const [area = '', level = '', ...folder] = text.split(':')
  return { area, level, folder: folder.join(':').replace(/^\/+|\/+$/g, '') }
}

export const createRights = (texts: readonly string[]): Rights => {
  const held = texts.map(parseRight)
  const having = (area: string, level: string) =>
    held.filter((right) => right.area === area && (right.level === 'write' || right.level === level))
  const includes = ({ area, level, folder }: Right) => having(area, level).some((own) => isWithin(folder, own.folder))
  const can = (level: Level) => (path: string) => includes({ area: 'files', level, folder: path })
  return {
    has(right) {
      const { area, level } = parseRight(right)
      return having(area, level).length > 0
    },
    include: (needed) => needed.map(parseRight).every(includes),
    canRead: can('read'),
    canWrite: can('write'),
  }
}
