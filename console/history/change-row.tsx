import type { Change } from '../../client/src/index.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { locale, texts } from '../texts/texts.ts'
import { parentOf } from '../uploads/paths.ts'
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

const fieldIn = (subject: string): string | undefined => /^form\/\d+\/field\/(-?\d+)$/.exec(subject)?.[1]

const linked = /^category\/\d+\/(news|blogs?)\/(\d+)$/

/** The subject of an upload with several files is the folder of these files. */
const namesIn = (details: Change['details']): readonly unknown[] => {
  const { names } = details ?? {}
  return Array.isArray(names) ? names : []
}

export const subjectName = ({ type, subject, details }: Change): string => {
  const names = namesIn(details)
  if (names.length === 1) return [subject, names[0]].filter(Boolean).join('/')
  if (groupOf(type) === 'files' && subject === '') return texts.value.history.root
  const field = fieldIn(subject)
  if (field !== undefined) return texts.value.forms.types[field] ?? subject
  const [, kind, object] = linked.exec(subject) ?? []
  return kind === undefined ? subject : `${texts.value.categories.kinds[kind === 'news' ? 'news' : 'blogs']} ${object}`
}

/** A rename is a move within the same folder. */
export const actionName = ({ type, subject, details }: Change): string => {
  const t = texts.value.history
  const { to } = details ?? {}
  if (type !== 'file.moved' || typeof to !== 'string') return t.types[type]
  return parentOf(subject) === parentOf(to) ? t.renamed : t.moved
}

// The details in one line: the new path, or the names of the files.
const note = ({ subject, details }: Change): string => {
  const { to, count } = details ?? {}
  const names = namesIn(details)
  if (typeof to === 'string') return texts.value.history.to(to)
  if (typeof count === 'number') return texts.value.items(count)
  if (names.length < 2) return fieldIn(subject) === undefined && !linked.test(subject) ? '' : subject
  const shown = names.slice(0, 3).join(', ')
  return names.length > 3 ? `${shown} ${texts.value.history.more(names.length - 3)}` : shown
}

interface ChangeRowProps {
  readonly change: Change
  readonly onOpen: () => void
}

export const ChangeRow = ({ change, onOpen }: ChangeRowProps) => {
  const { actor, at } = change
  return (
    <button type="button" class="change" onClick={onOpen}>
      <Icon name={iconOf(change)} />
      <span class="change-type">{actionName(change)}</span>
      <span class="change-subject">
        <bdi>{subjectName(change)}</bdi> <bdi class="soft">{note(change)}</bdi>
      </span>
      <bdi class="change-actor">{actor}</bdi>
      <time class="soft" dateTime={at}>
        {new Date(at).toLocaleTimeString(locale.value, { timeStyle: 'short' })}
      </time>
    </button>
  )
}
