/** Paths as in the service: `news/2026/a.html`; the root is empty. */

export const partsOf = (path: string): readonly string[] => path.split('/').filter((part) => part !== '')
export const join = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
/** The path is the folder or is inside it. */
export const isWithin = (path: string, folder: string): boolean =>
  folder === '' || path === folder || path.startsWith(`${folder}/`)

/** "a (2).txt" for a file that is kept beside "a.txt". */
export const numbered = (path: string, number: number): string => {
  const name = nameOf(path)
  const dot = name.lastIndexOf('.')
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  return join(parentOf(path), `${stem} (${number})${ending}`)
}
