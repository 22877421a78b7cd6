import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { beginSignIn, findIssuers, ServiceError } from '../../client/src/index.ts'
import { isRefused, type Keep, type Session } from '../page/session.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { goTo, parseRoute } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'

/** The tab saves these values while the person is at the issuer. */
interface Begun {
  readonly verifier: string
  readonly keep: Keep
  readonly place: string
}

const key = 'site-admin-sign-in'

const takeBegun = (): Begun | undefined => {
  const kept = sessionStorage.getItem(key)
  sessionStorage.removeItem(key)
  return kept === null ? undefined : JSON.parse(kept)
}

interface IssuersProps {
  readonly session: Session
  readonly isKept: Signal<boolean>
}

/**
 * Shows a button for each issuer through which people can sign in. Browsers can compute the challenge only in a secure
 * page.
 */
export const Issuers = ({ session: { url }, isKept }: IssuersProps) => {
  const issuers = useSignal<readonly string[]>([])
  const { failure, attempt } = useAttempt()
  const load = () =>
    attempt(async () => {
      issuers.value = await findIssuers({ url })
    })
  const begin = (issuer: string) =>
    attempt(async () => {
      const { address, verifier } = await beginSignIn({ url }, issuer)
      const begun: Begun = { verifier, keep: isKept.value ? 'device' : 'tab', place: location.hash }
      sessionStorage.setItem(key, JSON.stringify(begun))
      location.assign(address)
    })
  useEffect(() => {
    if (isSecureContext) load()
  }, [])
  return (
    <>
      {issuers.value.map((issuer) => (
        <Button key={issuer} icon="person" onClick={() => begin(issuer)}>
          {texts.value.signIn.issuer(issuer)}
        </Button>
      ))}
      <Failure error={failure.value} onRepeat={load} />
    </>
  )
}

const refused = 101001

/** Anybody can write a link with any text behind `#`, so only numbers and ids are shown. */
const failureIn = (outcome: URLSearchParams): ServiceError => {
  const t = texts.value.signIn
  const [code = ''] = /^\d{1,6}$/.exec(outcome.get('error') ?? '') ?? []
  const [request = ''] = /^[\w-]{1,64}$/.exec(outcome.get('request') ?? '') ?? []
  const message = Number(code) === refused ? t.refusedThere : t.failedThere(code, request)
  const [wait] = /^\d{1,4}$/.exec(outcome.get('wait') ?? '') ?? []
  const given = { code: Number(code), message }
  return new ServiceError(
    wait === undefined ? { ...given, status: 0 } : { ...given, status: 429, retryAfter: Number(wait) },
  )
}

/** Ends a sign-in that this tab has begun. Ignores the outcome of any other sign-in. */
export const finishSignIn = async (session: Session, outcome: string): Promise<void> => {
  const begun = takeBegun()
  if (!begun) return session.restoreSession()
  if (begun.place !== '') goTo(parseRoute(begun.place), { replace: true })
  const given = new URLSearchParams(outcome)
  const code = given.get('code')
  if (code === null) {
    session.failure.value = failureIn(given)
    return
  }
  await session.signIn({ code, verifier: begun.verifier }, begun.keep)
  // The message of this refusal is about the name and the password, but the person has typed neither.
  if (isRefused(session.failure.value)) session.failure.value = failureIn(new URLSearchParams({ error: `${refused}` }))
}
