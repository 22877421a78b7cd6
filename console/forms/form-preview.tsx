import { useId } from 'preact/hooks'
import type { Field, WebForm } from '../../client/src/index.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { fieldNameOf } from './field-names.ts'

const lines = {
  text: { type: 'text' },
  email: { type: 'email' },
  password: { type: 'password' },
  date: { type: 'date' },
  tel: { type: 'tel' },
  url: { type: 'url' },
  file: { type: 'file' },
} as const

type Line = keyof typeof lines
type Control = Line | 'address' | 'card' | 'choice' | 'check'

/** The controls for types that need more than a single line of text. */
const controls: Readonly<Record<number, Control>> = {
  [-3]: 'email',
  [-500]: 'email',
  [-6]: 'password',
  [-7]: 'date',
  [-30]: 'date',
  [-31]: 'date',
  [-32]: 'date',
  [-33]: 'date',
  [-34]: 'date',
  [-20]: 'tel',
  [-21]: 'tel',
  [-22]: 'tel',
  [-23]: 'tel',
  [-24]: 'tel',
  [-25]: 'url',
  [-200]: 'file',
  [-10]: 'address',
  [-11]: 'address',
  [-12]: 'address',
  [-13]: 'address',
  [-300]: 'card',
  [-302]: 'card',
  [-303]: 'card',
  [-301]: 'choice',
  [-400]: 'check',
  [-402]: 'check',
  [-403]: 'check',
  [-404]: 'check',
}

/** A hidden field of this type protects visitors against requests of foreign pages. */
const hidden = -304

interface PartProps {
  readonly label: string
  readonly isRequired: boolean
  readonly type?: Line
}

const Part = ({ label, isRequired, type = 'text' }: PartProps) => {
  const field = useId()
  return (
    <div class="field">
      <label for={field}>
        {label}
        {isRequired && <span aria-hidden="true"> *</span>}
      </label>
      <input id={field} {...lines[type]} required={isRequired} autoComplete="off" />
    </div>
  )
}

const Parts = ({ legend, labels, isRequired }: { legend: string; labels: readonly string[]; isRequired: boolean }) => (
  <fieldset class="preview-parts">
    <legend>{legend}</legend>
    {labels.map((label) => (
      <Part key={label} label={label} isRequired={isRequired} />
    ))}
  </fieldset>
)

const Preview = ({ field }: { readonly field: Field }) => {
  const t = viewTexts.value.forms
  const choice = useId()
  const [label, isRequired] = [fieldNameOf(field), field.mandatory]
  const control = controls[field.id] ?? 'text'
  if (control === 'address') return <Parts legend={label} labels={t.addressParts} isRequired={isRequired} />
  if (control === 'card') return <Parts legend={label} labels={t.cardParts} isRequired={isRequired} />
  if (control === 'check')
    return (
      <div class="preview-check">
        <strong>{label}</strong>
        <p class="soft">{t.checkHint}</p>
      </div>
    )
  if (control === 'choice')
    return (
      <div class="field">
        <label for={choice}>{label}</label>
        <select id={choice}>
          <option>{t.types['-302']}</option>
        </select>
      </div>
    )
  return <Part label={label} isRequired={isRequired} type={control} />
}

interface FormPreviewProps {
  readonly form: WebForm
  readonly fields: readonly Field[]
  readonly onClose: () => void
}

/** Shows the form as visitors of the site see it. The preview sends nothing. */
export const FormPreview = ({ form, fields, onClose }: FormPreviewProps) => {
  const t = viewTexts.value.forms
  return (
    <Dialog title={t.previewOf(form.name)} onClose={onClose}>
      <div class="dialog-body">
        <p class="note">{t.previewHint}</p>
        {fields
          .filter(({ id }) => id !== hidden)
          .map((field) => (
            <Preview key={field.id} field={field} />
          ))}
        <div>
          <Button kind="primary" disabled>
            {t.send}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
