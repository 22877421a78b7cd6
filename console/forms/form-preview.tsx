import { useId } from 'preact/hooks'
import type { Field, WebForm } from '../../client/src/index.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Labelled } from '../parts/fields.tsx'
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
const controls: readonly (readonly [Control, readonly number[]])[] = [
  ['email', [-3, -500]],
  ['password', [-6]],
  ['date', [-7, -30, -31, -32, -33, -34]],
  ['tel', [-20, -21, -22, -23, -24]],
  ['url', [-25]],
  ['file', [-200]],
  ['address', [-10, -11, -12, -13]],
  ['card', [-300, -302, -303]],
  ['choice', [-301]],
  ['check', [-400, -402, -403, -404]],
]

const controlOf = ({ id }: Field): Control => controls.find(([, types]) => types.includes(id))?.[0] ?? 'text'

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
    <Labelled
      id={field}
      label={
        <>
          {label}
          {isRequired && <span aria-hidden="true"> *</span>}
        </>
      }
    >
      <input id={field} {...lines[type]} required={isRequired} autoComplete="off" />
    </Labelled>
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
  const control = controlOf(field)
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
      <Labelled id={choice} label={label}>
        <select id={choice}>
          <option>{t.types['-302']}</option>
        </select>
      </Labelled>
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
