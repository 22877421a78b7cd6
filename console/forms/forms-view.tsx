import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { Change, WebForm } from '../../client/src/index.ts'
import { chosenId, hasRoom } from '../app/chosen.ts'
import { usePage } from '../app/context.ts'
import { goTo } from '../app/routes.ts'
import { Chooser } from '../parts/chooser.tsx'
import { texts } from '../texts/texts.ts'
import { createFieldsStore } from './fields-store.ts'
import { FormFields } from './form-fields.tsx'

const isAboutForms = ({ type }: Change): boolean => /^(form\.|content\.)/.test(type)

/** Whether a change concerns the fields of a form. */
export const isAboutFieldsOf =
  (form: number) =>
  ({ type, subject }: Change): boolean =>
    type === 'content.imported' || subject === `form/${form}` || subject.startsWith(`form/${form}/`)

const Form = ({ form }: { readonly form: WebForm }) => {
  const { client, access, live } = usePage()
  const store = useMemo(() => createFieldsStore({ forms: client.forms, form: form.id }), [client, form.id])
  useEffect(() => {
    store.load()
    return live.subscribe((changes) => {
      if (changes.some(isAboutFieldsOf(form.id))) store.load()
    })
  }, [store, access, live])
  return <FormFields form={form} store={store} />
}

/** The web forms of the site, and the system fields of the one that is chosen. */
export const FormsView = () => {
  const { client, access, live } = usePage()
  const forms = useSignal<readonly WebForm[] | undefined>(undefined)
  const failure = useSignal<unknown>(undefined)
  const chosen = chosenId()
  const load = async () => {
    try {
      const found: WebForm[] = []
      for await (const form of client.forms.list()) found.push(form)
      forms.value = found
      failure.value = undefined
    } catch (error) {
      failure.value = error
    }
  }
  useEffect(() => {
    load()
    return live.subscribe((changes) => {
      if (changes.some(isAboutForms)) load()
    })
  }, [client, access, live])
  const [first] = forms.value ?? []
  useEffect(() => {
    if (chosen === undefined && first && hasRoom()) goTo({ path: [String(first.id)] }, { replace: true })
  }, [chosen, first])
  const form = forms.value?.find(({ id }) => id === chosen)
  return (
    <Chooser
      label={texts.value.forms.list}
      items={forms.value}
      chosen={chosen}
      failure={failure.value}
      onRepeat={load}
      none={texts.value.forms.none}
    >
      {form ? <Form key={form.id} form={form} /> : forms.value && <p class="empty">{texts.value.forms.choose}</p>}
    </Chooser>
  )
}
