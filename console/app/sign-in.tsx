import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { isRefused, type Session } from '../page/session.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Field, KeepField, PasswordField } from '../parts/fields.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { notifyFailure } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { otherBaseUrl } from './base-url.ts'
import { SettingsMenu } from './settings-menu.tsx'

const loadIssuers = async () => (await import('./issuers.tsx')).Issuers

export interface SignInProps {
  readonly session: Session
}

/** Signs out at once. A failure means that the service has not ended the session. */
export const signOut = (session: Session): void => {
  session.signOut().catch((error: unknown) => notifyFailure(texts.value.signIn.notEnded, error))
}

export const SignInForm = ({ session }: SignInProps) => {
  const t = texts.value.signIn
  const me = session.entrance.value?.me
  const hasToken = useSignal(me !== undefined && me.kind !== 'session')
  const name = useSignal(me?.kind === 'session' ? me.name : '')
  const [password, token] = [useSignal(''), useSignal('')]
  const isKept = useSignal(false)
  const failure = session.failure.value
  const isWrong = isRefused(failure)
  const submit = (event: Event) => {
    event.preventDefault()
    if (session.isBusy.value) return
    const proof = hasToken.value ? { token: token.value } : { username: name.value.trim(), password: password.value }
    session.signIn(proof, isKept.value ? 'device' : 'tab')
  }
  const change = () => {
    session.failure.value = undefined
    hasToken.value = !hasToken.value
  }
  return (
    <form onSubmit={submit} class="sign-in" aria-busy={session.isBusy.value}>
      {hasToken.value ? (
        <PasswordField label={t.token} value={token} isWrong={isWrong} hint={t.hint} />
      ) : (
        <>
          <Field label={t.name} value={name} autoComplete="username" isPlain isWrong={isWrong} />
          <PasswordField label={t.password} value={password} isWrong={isWrong} />
        </>
      )}
      <KeepField isKept={isKept} />
      {failure !== undefined && (
        <Failure error={failure} onRepeat={!isWrong && session.hasKept() ? session.restoreSession : undefined} />
      )}
      <Button type="submit" kind="primary">
        {t.title}
      </Button>
      <Loaded load={loadIssuers} props={{ session, isKept }} />
      <Button kind="quiet" onClick={change}>
        {hasToken.value ? t.usePassword : t.useToken}
      </Button>
    </form>
  )
}

/** The network or the browser may block requests to an address that is not the address of the page. */
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
        {session.entrance.value?.list.length === 0 && <p role="alert">{texts.value.signIn.noSites}</p>}
        <SignInForm session={session} />
      </div>
    </main>
  )
}
