import type { Signal } from '@preact/signals'
import type { ComponentChildren, InputHTMLAttributes, Ref } from 'preact'
import { useId } from 'preact/hooks'
import { texts } from '../texts/texts.ts'

/** The props of a control that shows a signal, and that changes this signal with each input. */
export const bound = (value: Signal<string>) => ({
  value: value.value,
  onInput({ currentTarget }: { readonly currentTarget: { readonly value: string } }) {
    value.value = currentTarget.value
  },
})

interface LabelledProps {
  /** The id of the control. */
  readonly id: string
  readonly label: ComponentChildren
  /** Describes the control, which refers to this text with `hintOf`. */
  readonly hint?: ComponentChildren
  /** True if screen readers announce each new hint. */
  readonly isLive?: boolean | undefined
  readonly children: ComponentChildren
}

export const hintOf = (id: string): string => `${id}-hint`

/** A control with its label above and its hint below. */
export const Labelled = ({ id, label, hint, isLive, children }: LabelledProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    {children}
    {hint !== undefined && (
      <p id={hintOf(id)} class="hint" role={isLive ? 'status' : undefined}>
        {hint}
      </p>
    )}
  </div>
)

interface FieldProps extends Pick<LabelledProps, 'hint' | 'isLive'> {
  readonly label: string
  readonly value: Signal<string>
  readonly isOptional?: boolean
  /** The field is for a name or a secret. The browser neither corrects nor capitalises the text. */
  readonly isPlain?: boolean
  readonly isWrong?: boolean
  readonly autoComplete?: string
  readonly maxLength?: number
  /** More attributes of the input. */
  readonly input?: InputHTMLAttributes<HTMLInputElement>
  readonly inputRef?: Ref<HTMLInputElement>
}

export const Field = ({ label, hint, isLive, value, input, inputRef = null, ...rest }: FieldProps) => {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} isLive={isLive}>
      <input
        id={id}
        ref={inputRef}
        required={!rest.isOptional}
        autoComplete={rest.autoComplete ?? 'off'}
        maxLength={rest.maxLength}
        aria-describedby={hint === undefined ? undefined : hintOf(id)}
        aria-invalid={rest.isWrong}
        {...(rest.isPlain && { spellcheck: false, autoCapitalize: 'none' })}
        {...input}
        {...bound(value)}
      />
    </Labelled>
  )
}

export const PasswordField = (props: Omit<FieldProps, 'input' | 'isPlain'>) => (
  <Field autoComplete="current-password" {...props} input={{ type: 'password' }} isPlain />
)

/** The name of a file or folder. */
export const NameField = (props: Pick<FieldProps, 'label' | 'value' | 'inputRef'>) => (
  <Field
    {...props}
    isOptional
    input={{ spellcheck: false, dir: 'auto', pattern: '[^\\/]+', title: texts.value.files.noSlash }}
  />
)

interface CheckFieldProps {
  readonly label: string
  readonly value: Signal<boolean>
  /** The id of the element that describes the field. */
  readonly hint?: string
}

export const CheckField = ({ label, value, hint }: CheckFieldProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={value.value}
      aria-describedby={hint}
      onChange={({ currentTarget }) => {
        value.value = currentTarget.checked
      }}
    />
    {label}
  </label>
)

export const KeepField = ({ isKept }: { readonly isKept: Signal<boolean> }) => {
  const t = texts.value.signIn
  const hint = useId()
  return (
    <div class="field">
      <CheckField label={t.keep} value={isKept} hint={hint} />
      <p id={hint} class="hint">
        {t.keepHint}
      </p>
    </div>
  )
}
