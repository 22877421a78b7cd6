import { type Signal, useSignal } from '@preact/signals'
import type { CreatedKey, Key } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { type AreaRight, parseRight } from '../page/rights.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { Field } from '../parts/fields.tsx'
import { withoutDots } from '../parts/format.ts'
import { notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { FoldersField, foldersIn } from './entry-fields.tsx'

const areas = ['files', 'forms', 'categories', 'history', 'access'] as const
type Area = (typeof areas)[number]
type Levels = Readonly<Record<Area, '' | 'read' | 'write'>>

/** in days. A key lasts until the end of its last day, which is less than a year from now. */
const lifetimes = { usual: 90, longest: 364 } as const

/** Returns a day of this time zone, as `2026-01-31`. */
const dayIn = (days: number): string => {
  const date = new Date()
  date.setDate(date.getDate() + days)
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
  return parts.map((part) => String(part).padStart(2, '0')).join('-')
}

const rightsIn = (levels: Levels, folders: readonly string[]): string[] =>
  areas.flatMap((area) => {
    const right = `${area}:${levels[area]}`
    if (levels[area] === '') return []
    return area === 'files' && folders.length > 0 ? folders.map((folder) => `${right}:${folder}`) : [right]
  })

const RightsFields = ({ levels }: { readonly levels: Signal<Levels> }) => {
  const { rights } = usePage()
  const t = viewTexts.value
  const has = (right: AreaRight) => rights.has(right)
  return (
    <fieldset class="choices key-rights">
      <legend>{t.keys.rights}</legend>
      {areas
        .filter((area) => has(`${area}:read`))
        .map((area) => (
          <label key={area}>
            <span>{t.access.areas[area]}</span>
            <select
              value={levels.value[area]}
              onChange={({ currentTarget: { value } }) => {
                levels.value = { ...levels.value, [area]: value }
              }}
            >
              <option value="">{t.keys.noRight}</option>
              <option value="read">{t.access.levels.read}</option>
              {has(`${area}:write`) && <option value="write">{t.access.levels.write}</option>}
            </select>
          </label>
        ))}
    </fieldset>
  )
}

/** Returns the folders in which the caller has rights. Empty when these rights cover all files. */
const useOwnFolders = (): readonly string[] => {
  const { me, client } = usePage()
  const held = me.sites.find(({ id }) => id === client.site.id)?.rights ?? []
  const folders = held
    .map(parseRight)
    .filter(({ area }) => area === 'files')
    .map(({ folder }) => folder)
  return folders.includes('') ? [] : folders.map((folder) => `/${folder}`)
}

interface CreateKeyProps {
  readonly onCreated: (key: CreatedKey) => void
  readonly onClose: () => void
}

/** The dialog begins with the smallest right: reading files. */
export const CreateKeyDialog = ({ onCreated, onClose }: CreateKeyProps) => {
  const { client, rights } = usePage()
  const t = viewTexts.value.keys
  const own = useOwnFolders()
  const [name, folders, day] = [useSignal(''), useSignal(own.join('\n')), useSignal(dayIn(lifetimes.usual))]
  const levels = useSignal<Levels>({
    files: rights.has('files:read') ? 'read' : '',
    forms: '',
    categories: '',
    history: '',
    access: '',
  })
  const wanted = rightsIn(levels.value, foldersIn(folders.value))
  const end = new Date(`${day.value}T23:59:59`)
  const submit = async () =>
    onCreated(await client.access.keys.create({ name: name.value.trim(), rights: wanted, expires: end.toISOString() }))
  return (
    <FormDialog
      title={withoutDots(t.create)}
      action={texts.value.create}
      isReady={name.value.trim() !== '' && wanted.length > 0 && !Number.isNaN(end.getTime())}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={t.name} value={name} maxLength={200} />
      <RightsFields levels={levels} />
      {levels.value.files !== '' && (
        <FoldersField value={folders} hint={t.foldersHint(own.join(', '))} isOptional={own.length === 0} />
      )}
      <Field label={t.lastDay} value={day} input={{ type: 'date', min: dayIn(0), max: dayIn(lifetimes.longest) }} />
    </FormDialog>
  )
}

interface RevokeKeyProps {
  readonly value: Key
  readonly onClose: () => void
}

export const RevokeKeyDialog = ({ value: { id, name }, onClose }: RevokeKeyProps) => {
  const { client } = usePage()
  const t = viewTexts.value.keys
  const submit = async () => {
    await client.access.keys.revoke(id)
    notify(t.revoked(name))
  }
  return (
    <FormDialog title={t.revokeTitle(name)} action={t.revokeAction} isDangerous onSubmit={submit} onClose={onClose}>
      <p>{t.revokeText}</p>
    </FormDialog>
  )
}
