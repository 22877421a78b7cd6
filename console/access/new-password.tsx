import { type Signal, useComputed, useSignal } from '@preact/signals'
import { PasswordField } from '../parts/fields.tsx'
import { viewTexts } from '../texts/view-texts.ts'

export const useNewPassword = () => {
  const password = useSignal('')
  const repeated = useSignal('')
  const isReady = useComputed(() => password.value !== '' && password.value === repeated.value)
  return { password, repeated, isReady }
}

interface NewPasswordProps {
  readonly password: Signal<string>
  readonly repeated: Signal<string>
}

export const NewPassword = ({ password, repeated }: NewPasswordProps) => {
  const t = viewTexts.value.account
  const isDifferent = repeated.value !== '' && repeated.value !== password.value
  return (
    <>
      <PasswordField label={t.newPassword} value={password} autoComplete="new-password" hint={t.passwordHint} />
      <PasswordField
        label={t.repeatPassword}
        value={repeated}
        autoComplete="new-password"
        isWrong={isDifferent}
        hint={isDifferent && t.passwordsDiffer}
        isLive
      />
    </>
  )
}
