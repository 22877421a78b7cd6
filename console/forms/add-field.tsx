import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import type { FieldType, WebForm } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { useAttempt } from '../parts/attempt.ts'
import { found } from '../parts/chooser.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { bound, CheckField, Labelled } from '../parts/fields.tsx'
import { notify } from '../parts/toasts.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { fieldNameOf, typeName } from './field-names.ts'
import type { FieldsStore } from './fields-store.ts'

interface AddFieldProps {
  readonly form: WebForm
  readonly store: FieldsStore
  readonly onClose: () => void
}

/** Returns the types that the form does not have yet, sorted by their names in the language of the page. */
const offered = (types: readonly FieldType[], present: readonly { readonly id: number }[]) =>
  types
    .filter(({ id }) => !present.some((field) => field.id === id))
    .map((type) => ({ id: type.id, name: typeName(type) }))
    .toSorted((a, b) => a.name.localeCompare(b.name))

const TypeChoice = ({
  types,
  chosen,
  onChoose,
}: {
  readonly types: ReturnType<typeof offered>
  readonly chosen: number | undefined
  readonly onChoose: (id: FieldType['id']) => void
}) => {
  const t = viewTexts.value.forms
  const [find, group] = [useId(), useId()]
  const wanted = useSignal('')
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  const shown = found(types, wanted.value)
  return (
    <Labelled id={find} label={t.type}>
      <input ref={field} id={find} type="search" placeholder={t.findType} {...bound(wanted)} />
      <fieldset class="types">
        <legend class="unseen">{t.type}</legend>
        {shown.map(({ id, name }) => (
          <label key={id} class="type">
            <input type="radio" name={group} value={id} checked={id === chosen} onChange={() => onChoose(id)} />
            <span>{name}</span>
          </label>
        ))}
        {shown.length === 0 && <p class="empty">{types.length === 0 ? t.allAdded : t.noType}</p>}
      </fieldset>
    </Labelled>
  )
}

export const AddField = ({ form, store, onClose }: AddFieldProps) => {
  const t = viewTexts.value.forms
  const { client, access } = usePage()
  const place = useId()
  const types = useSignal<readonly FieldType[]>()
  const { failure, attempt } = useAttempt()
  const chosen = useSignal<FieldType['id']>()
  const mandatory = useSignal(false)
  const before = useSignal('')
  const left = useComputed(() => types.value && offered(types.value, store.fields.value ?? []))
  const load = () =>
    attempt(async () => {
      types.value = await Array.fromAsync(client.forms.types())
    })
  useEffect(() => {
    if (!types.value) load()
  }, [access])
  const submit = async () => {
    const type = types.value?.find(({ id }) => id === chosen.value)
    const next = store.fields.value?.find(({ id }) => String(id) === before.value)
    if (!type) return
    await store.add({ type: type.id, mandatory: mandatory.value, ...(next && { order: next.order }) })
    notify(viewTexts.value.added(typeName(type)))
  }
  return (
    <FormDialog
      title={t.addTo(form.name)}
      action={t.addAction}
      isReady={left.value?.some(({ id }) => id === chosen.value) ?? false}
      onSubmit={submit}
      onClose={onClose}
    >
      <Failure error={failure.value} onRepeat={load} />
      {left.value && (
        <TypeChoice
          types={left.value}
          chosen={chosen.value}
          onChoose={(id) => {
            chosen.value = id
          }}
        />
      )}
      <Labelled id={place} label={t.place}>
        <select id={place} {...bound(before)}>
          <option value="">{t.last}</option>
          {store.fields.value?.map((field) => (
            <option key={field.id} value={field.id}>
              {t.before(fieldNameOf(field))}
            </option>
          ))}
        </select>
      </Labelled>
      <CheckField label={t.mandatory} value={mandatory} />
    </FormDialog>
  )
}
