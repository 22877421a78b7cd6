/** Paths as in the service: `news/2026/a.html`; the root is empty. */

export const partsOf = (path: string): readonly string[] => path.split('/').filter((part) => part !== '')
export const join = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
/** The path is the folder or is inside it. */
export const isWithin = (path: string, folder: string): boolean =>
  folder === '' || path === folder || path.startsWith(`${folder}/`)

/** In bytes of a name (S-12). */
const mostBytes = 255

/** "a (2).txt" for a file that is kept beside "a.txt". Letters at the end of a long name go, but not its ending. */
export const numbered = (path: string, number: number): string => {
  const name = nameOf(path)
  const dot = name.lastIndexOf('.')
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  const end = ` (${number})${ending}`
  const letters = Array.from(new Intl.Segmenter().segment(stem), ({ segment }) => segment)
  while (letters.length > 0 && new Blob([...letters, end]).size > mostBytes) letters.pop()
  return join(parentOf(path), letters.join('') + end)
}
