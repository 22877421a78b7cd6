import type { Change } from '../../client/src/index.ts'
import { parentOf, partsOf } from '../uploads/paths.ts'

/** Changes that belong together, such as the files of one push. */
export interface ChangeGroup {
  /** Newest first. */
  readonly changes: readonly Change[]
  readonly files: number
  /** All files of the group are in this folder or below it. */
  readonly folder: string
}

export type Line =
  | { readonly day: Date }
  | { readonly group: ChangeGroup; readonly isOpen: boolean }
  | { readonly change: Change; readonly within?: string }

/** In milliseconds: the longest pause between two files of one upload, in the same top folder and in different ones. */
const longestPause = { near: 60_000, far: 5_000 }

const groupedTypes: ReadonlySet<Change['type']> = new Set(['file.stored', 'file.removed'])

/** For an upload of several files, the subject is their folder, and the details contain their names. */
export const namesOf = ({ details }: Pick<Change, 'details'>): readonly string[] => details?.names ?? []

const folderOf = (change: Change): string => (namesOf(change).length > 0 ? change.subject : parentOf(change.subject))

const dayOf = ({ at }: Change): string => new Date(at).toDateString()

const isTogether = (newer: Change, older: Change): boolean => {
  if (newer.type !== older.type || newer.actor !== older.actor || dayOf(newer) !== dayOf(older)) return false
  const [top, other] = [newer, older].map((change) => partsOf(folderOf(change))[0])
  return Date.parse(newer.at) - Date.parse(older.at) <= longestPause[top === other ? 'near' : 'far']
}

const commonFolder = (folders: readonly string[]): string => {
  const [first = '', ...others] = folders
  const parts = partsOf(first)
  const differing = parts.findIndex((part, index) => others.some((other) => partsOf(other)[index] !== part))
  return (differing < 0 ? parts : parts.slice(0, differing)).join('/')
}

const groupOf = (changes: readonly Change[]): ChangeGroup => ({
  changes,
  files: changes.reduce((total, change) => total + Math.max(1, namesOf(change).length), 0),
  folder: commonFolder([...new Set(changes.map(folderOf))]),
})

/** Returns the changes in groups of consecutive changes that belong together. */
const runsOf = (changes: readonly Change[]): readonly (readonly Change[])[] => {
  const runs: Change[][] = []
  for (const change of changes) {
    const run = runs.at(-1)
    const newer = run?.at(-1)
    if (run && newer && groupedTypes.has(change.type) && isTogether(newer, change)) run.push(change)
    else runs.push([change])
  }
  return runs
}

/**
 * Returns a heading for each day, and one line for each change or group. An open group has a line for each of its
 * changes.
 */
export const linesOf = (changes: readonly Change[], open: ReadonlySet<string> = new Set()): readonly Line[] => {
  const lines: Line[] = []
  let before = ''
  for (const run of runsOf(changes)) {
    const [newest] = run
    if (!newest) continue
    if (dayOf(newest) !== before) lines.push({ day: new Date(newest.at) })
    before = dayOf(newest)
    if (run.length === 1) {
      lines.push({ change: newest })
      continue
    }
    const group = groupOf(run)
    const isOpen = run.some(({ id }) => open.has(id))
    lines.push({ group, isOpen })
    if (isOpen) lines.push(...run.map((change) => ({ change, within: group.folder })))
  }
  return lines
}
