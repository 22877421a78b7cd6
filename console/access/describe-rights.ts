import { parseRight } from '../page/rights.ts'
import { viewTexts } from '../texts/view-texts.ts'

const isKey = <Named extends object>(names: Named, key: string): key is Extract<keyof Named, string> =>
  Object.hasOwn(names, key)

/** Writes a right as "Files: read and change, in /news". */
const describeRight = (text: string): string => {
  const { areas, levels, within } = viewTexts.value.access
  const { area, level, folder } = parseRight(text)
  if (!isKey(areas, area) || !isKey(levels, level)) return text
  return `${areas[area]}: ${levels[level]}${folder === '' ? '' : ` ${within(`/${folder}`)}`}`
}

interface Entry {
  readonly role: string | null
  readonly folders: readonly string[]
  readonly rights: readonly string[]
}

/** Describes the role with its folders. For a person without a role, describes each right. */
export const describeEntry = ({ role, folders, rights }: Entry): readonly string[] => {
  const { roles, within, noRights } = viewTexts.value.access
  if (role === null || !isKey(roles, role)) return rights.length === 0 ? [noRights] : rights.map(describeRight)
  return [folders.length === 0 ? roles[role] : `${roles[role]}, ${within(folders.join(', '))}`]
}
