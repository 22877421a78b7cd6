import type { Change } from '../../client/src/index.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { locale, texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { parentOf } from '../uploads/paths.ts'
import { type ChangeGroup, namesOf } from './change-lines.ts'
import { type Group, groupOf } from './history-store.ts'

const icons: Readonly<Record<Group, IconName>> = {
  files: 'file',
  fields: 'form',
  links: 'category',
  site: 'settings',
}

const iconOf = ({ type }: Change): IconName => {
  if (type.endsWith('.removed')) return 'remove'
  if (type.endsWith('.restored')) return 'restore'
  if (type === 'file.stored') return 'upload'
  if (type.startsWith('folder.')) return 'folder'
  return icons[groupOf(type)]
}

const fieldIn = (subject: string): readonly string[] => /^form\/(\d+)\/field\/(-?\d+)$/.exec(subject) ?? []

const linked = /^category\/(\d+)\/(news|blogs?)\/(\d+)$/

export const subjectName = ({ type, subject, details }: Change): string => {
  const names = namesOf({ details })
  if (names.length === 1) return [subject, names[0]].filter(Boolean).join('/')
  if (groupOf(type) === 'files' && subject === '') return viewTexts.value.history.root
  const [, , field] = fieldIn(subject)
  if (field !== undefined) return viewTexts.value.forms.types[field] ?? subject
  const [, , kind, object] = linked.exec(subject) ?? []
  return kind === undefined
    ? subject
    : `${viewTexts.value.categories.kinds[kind === 'news' ? 'news' : 'blogs']} ${object}`
}

/** A rename is a move within the same folder. */
export const actionName = ({ type, subject, details }: Change): string => {
  const t = viewTexts.value.history
  const { to } = details ?? {}
  if (type !== 'file.moved' || to === undefined) return t.types[type]
  return parentOf(subject) === parentOf(to) ? t.renamed : t.moved
}

/** Returns the web form of a field, or the category of a link. */
export const placeName = ({ subject }: Change): string => {
  const [[, form], [, category]] = [fieldIn(subject), linked.exec(subject) ?? []]
  if (form !== undefined) return viewTexts.value.history.inForm(form)
  return category === undefined ? '' : viewTexts.value.history.inCategory(category)
}

// Returns the details in one line: the new path, the place, or the names of the files.
const note = (change: Change): string => {
  const { details } = change
  const { to, count } = details ?? {}
  const names = namesOf({ details })
  if (to !== undefined) return viewTexts.value.history.to(to)
  if (count !== undefined) return texts.value.items(count)
  if (names.length < 2) return placeName(change)
  const shown = names.slice(0, 3).join(', ')
  return names.length > 3 ? `${shown} ${viewTexts.value.history.more(names.length - 3)}` : shown
}

const By = ({ change: { actor, at } }: { readonly change: Change }) => (
  <>
    <bdi class="change-actor">{actor}</bdi>
    <time class="soft" dateTime={at}>
      {new Date(at).toLocaleTimeString(locale.value, { timeStyle: 'short' })}
    </time>
  </>
)

interface ChangeRowProps {
  readonly change: Change
  /** If set, the row belongs to a group with this folder. */
  readonly within?: string | undefined
  readonly onOpen: () => void
}

export const ChangeRow = ({ change, within, onOpen }: ChangeRowProps) => {
  const name = subjectName(change)
  const isBelow = within !== undefined && name.startsWith(`${within}/`)
  return (
    <button type="button" class={`change${within === undefined ? '' : ' is-inside'}`} onClick={onOpen}>
      <Icon name={iconOf(change)} />
      <span class="change-type">{actionName(change)}</span>
      <span class="change-subject">
        <bdi>{isBelow ? name.slice(within.length + 1) : name}</bdi> <bdi class="soft">{note(change)}</bdi>
      </span>
      <By change={change} />
    </button>
  )
}

interface GroupRowProps {
  readonly group: ChangeGroup
  readonly isOpen: boolean
  readonly onToggle: () => void
}

export const GroupRow = ({ group: { changes, files, folder }, isOpen, onToggle }: GroupRowProps) => {
  const t = viewTexts.value.history
  const [newest] = changes
  if (!newest) return null
  return (
    <button type="button" class="change" aria-expanded={isOpen} onClick={onToggle}>
      <Icon name={isOpen ? 'down' : 'right'} />
      <span class="change-type">{actionName(newest)}</span>
      <bdi class="change-subject">{newest.type === 'file.stored' ? t.into(files, folder) : t.outOf(files, folder)}</bdi>
      <By change={newest} />
    </button>
  )
}
