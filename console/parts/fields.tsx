import type { Signal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { texts } from '../texts/texts.ts'

interface FieldProps {
  readonly label: string
  readonly value: Signal<string>
  readonly isSecret?: boolean
  readonly autoComplete?: string
  readonly isOptional?: boolean
  /** For a name or a secret: the browser neither corrects the text nor capitalises it. */
  readonly isPlain?: boolean
  readonly isWrong?: boolean
  /** The id of the element that describes the field. */
  readonly hint?: string
  readonly maxLength?: number
}

export const Field = ({ label, value, isSecret = false, isOptional = false, isPlain = false, ...rest }: FieldProps) => {
  const field = useId()
  return (
    <div class="field">
      <label for={field}>{label}</label>
      <input
        id={field}
        {...(isSecret ? ({ type: 'password' } as const) : ({ type: 'text' } as const))}
        required={!isOptional}
        value={value.value}
        autoComplete={rest.autoComplete ?? 'off'}
        maxLength={rest.maxLength}
        aria-describedby={rest.hint}
        aria-invalid={rest.isWrong}
        {...(isPlain && { spellcheck: false, autoCapitalize: 'none' })}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.value
        }}
      />
    </div>
  )
}

export const PasswordField = (props: Pick<FieldProps, 'label' | 'value' | 'isWrong' | 'hint' | 'autoComplete'>) => (
  <Field autoComplete="current-password" {...props} isSecret isPlain />
)

export const KeepField = ({ isKept }: { readonly isKept: Signal<boolean> }) => {
  const t = texts.value.signIn
  const hint = useId()
  return (
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          checked={isKept.value}
          aria-describedby={hint}
          onChange={({ currentTarget }) => {
            isKept.value = currentTarget.checked
          }}
        />
        {t.keep}
      </label>
      <p id={hint} class="hint">
        {t.keepHint}
      </p>
    </div>
  )
}
