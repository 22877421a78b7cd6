import { useMemo } from 'preact/hooks'
import type { Change, WebForm } from '../../client/src/index.ts'
import { useChosen } from '../page/chosen.ts'
import { usePage } from '../page/context.ts'
import { useLiveLoad } from '../page/live-load.ts'
import { Chooser } from '../parts/chooser.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { createFieldsStore } from './fields-store.ts'
import { FormFields } from './form-fields.tsx'

const isAboutForms = ({ type }: Change): boolean => /^(form\.|content\.)/.test(type)

const isAboutFieldsOf =
  (form: number) =>
  ({ type, subject }: Change): boolean =>
    type === 'content.imported' || subject === `form/${form}` || subject.startsWith(`form/${form}/`)

const Form = ({ form }: { readonly form: WebForm }) => {
  const { client } = usePage()
  const store = useMemo(() => createFieldsStore({ forms: client.forms, form: form.id }), [client, form.id])
  useLiveLoad(store, store.load, isAboutFieldsOf(form.id))
  return <FormFields form={form} store={store} />
}

export const FormsView = () => {
  const { chosen, list } = useChosen(({ forms }) => forms.list(), isAboutForms)
  const t = viewTexts.value.forms
  return (
    <Chooser label={t.list} none={{ icon: 'form', title: t.none, hint: t.noneHint }} {...list}>
      {chosen ? <Form key={chosen.id} form={chosen} /> : list.items && <p class="empty">{t.choose}</p>}
    </Chooser>
  )
}
