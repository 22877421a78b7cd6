import type { FolderContent } from '../../client/src/index.ts'

export type Column = 'name' | 'size' | 'lastModified'

export interface Order {
  readonly column: Column
  readonly isDescending: boolean
}

/** Sorts "page 2" before "page 10". */
export const collator = new Intl.Collator(undefined, { numeric: true })

const compareBy = {
  name: (a: FolderContent, b: FolderContent) => collator.compare(a.name, b.name),
  size: (a: FolderContent, b: FolderContent) => a.size - b.size,
  lastModified: (a: FolderContent, b: FolderContent) => (a.lastModified ?? '').localeCompare(b.lastModified ?? ''),
} as const

/** Folders come first. */
export const arrange = (
  entries: readonly FolderContent[],
  { column, isDescending }: Order,
): readonly FolderContent[] => {
  const compare = compareBy[column]
  const sign = isDescending ? -1 : 1
  return entries.toSorted(
    (a, b) =>
      Number(a.type === 'file') - Number(b.type === 'file') || sign * compare(a, b) || collator.compare(a.name, b.name),
  )
}
