import { useSignal } from '@preact/signals'
import { useEffect, useId } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { texts } from '../texts/texts.ts'
import { otherBaseUrl } from './base-url.ts'
import { isRefused, type Session } from './session.ts'
import { SettingsMenu } from './settings-menu.tsx'

export interface SignInProps {
  readonly session: Session
}

export const SignInForm = ({ session }: SignInProps) => {
  const t = texts.value.signIn
  const [field, hint, keepHint] = [useId(), useId(), useId()]
  const token = useSignal('')
  const isKept = useSignal(false)
  const failure = session.failure.value
  const isWrong = isRefused(failure)
  const submit = (event: Event) => {
    event.preventDefault()
    if (session.isBusy.value) return
    session.signIn(token.value, isKept.value ? 'device' : 'tab')
  }
  return (
    <form onSubmit={submit} class="sign-in" aria-busy={session.isBusy.value}>
      <div class="field">
        <label for={field}>{t.token}</label>
        <input
          id={field}
          type="password"
          autoComplete="current-password"
          spellcheck={false}
          required
          value={token.value}
          aria-describedby={hint}
          aria-invalid={isWrong}
          onInput={({ currentTarget }) => {
            token.value = currentTarget.value
          }}
        />
        <p id={hint} class="hint">
          {t.hint}
        </p>
      </div>
      <div class="field">
        <label class="check">
          <input
            type="checkbox"
            checked={isKept.value}
            aria-describedby={keepHint}
            onChange={({ currentTarget }) => {
              isKept.value = currentTarget.checked
            }}
          />
          {t.keep}
        </label>
        <p id={keepHint} class="hint">
          {t.keepHint}
        </p>
      </div>
      {failure !== undefined && (
        <Failure error={failure} onRepeat={!isWrong && session.hasKept() ? session.restoreSession : undefined} />
      )}
      <Button type="submit" kind="primary">
        {t.submit}
      </Button>
    </form>
  )
}

/** Requests to another address than that of the page may fail, because the network or the browser blocks them. */
export const OtherAddress = () => {
  const url = otherBaseUrl()
  return url === undefined ? null : (
    <p class="note" role="alert">
      {texts.value.signIn.otherAddress(url)}
    </p>
  )
}

export const SignIn = ({ session }: SignInProps) => {
  const { name } = texts.value
  useEffect(() => {
    document.title = name
  }, [name])
  return (
    <main class="welcome">
      <div class="welcome-card">
        <header>
          <h1>{name}</h1>
          <SettingsMenu />
        </header>
        <OtherAddress />
        {session.sites.value?.list.length === 0 && <p role="alert">{texts.value.signIn.noSites}</p>}
        <SignInForm session={session} />
      </div>
    </main>
  )
}
