import { type Signal, useComputed, useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { User } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { bound, hintOf, Labelled } from '../parts/fields.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { describeEntry } from './describe-rights.ts'
import { grantableRoles, type Role } from './roles.ts'

interface Entry {
  readonly role: Role
  readonly folders?: string[]
}

interface EntryFields {
  /** If this is empty, the person has a list of rights instead of a role. */
  readonly role: Signal<Role | ''>
  readonly folders: Signal<string>
  readonly entry: { readonly value: Entry | undefined }
}

/** One folder per line. People may leave out the slash in front. */
export const foldersIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim().replace(/^\/*/, '/'))
    .filter((folder) => folder !== '/')

/** The fields for a role and its folders. `entry` is undefined until the fields are complete. */
export const useEntryFields = (user?: User): EntryFields => {
  const [first = ''] = grantableRoles(usePage().rights)
  const role = useSignal<Role | ''>(user ? (user.role ?? '') : first)
  const folders = useSignal(user?.folders.join('\n') ?? '')
  const entry = useComputed(() => {
    if (role.value === '') return undefined
    if (role.value !== 'author') return { role: role.value }
    const given = foldersIn(folders.value)
    return given.length === 0 ? undefined : { role: role.value, folders: given }
  })
  return { role, folders, entry }
}

interface FoldersFieldProps {
  readonly value: Signal<string>
  readonly hint: string
  readonly isOptional?: boolean
}

export const FoldersField = ({ value, hint, isOptional = false }: FoldersFieldProps) => {
  const id = useId()
  return (
    <Labelled id={id} label={viewTexts.value.access.folders} hint={hint}>
      <textarea
        id={id}
        rows={3}
        required={!isOptional}
        spellcheck={false}
        aria-describedby={hintOf(id)}
        {...bound(value)}
      />
    </Labelled>
  )
}

export const EntryFields = ({ fields, user }: { readonly fields: EntryFields; readonly user?: User }) => {
  const t = viewTexts.value.access
  const id = useId()
  const { role, folders } = fields
  const offered = grantableRoles(usePage().rights)
  return (
    <>
      <Labelled id={id} label={t.role} hint={role.value !== '' && t.roleHints[role.value]}>
        <select
          id={id}
          value={role.value}
          aria-describedby={hintOf(id)}
          onChange={({ currentTarget }) => {
            role.value = offered.find((each) => each === currentTarget.value) ?? ''
          }}
        >
          {user && !offered.some((each) => each === user.role) && (
            <option value={user.role ?? ''}>{describeEntry(user).join('; ')}</option>
          )}
          {offered.map((each) => (
            <option key={each} value={each}>
              {t.roles[each]}
            </option>
          ))}
        </select>
      </Labelled>
      {role.value === 'author' && <FoldersField value={folders} hint={t.foldersHint} />}
    </>
  )
}
