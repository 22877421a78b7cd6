import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { beginSignIn, type ExternalSignIn, findIssuers, ServiceError } from '../../client/src/index.ts'
import { isRefused, type Keep, type Session } from '../page/session.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { tabStore } from '../parts/stores.ts'
import { goTo, parseRoute } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'

interface Proof {
  readonly verifier: string
  readonly keep: Keep
}

/** The tab saves these values while the person is at the issuer. */
interface Begun extends Proof {
  readonly place: string
}

const key = 'site-admin-sign-in'

const keepBegun = (begun: Begun): boolean => {
  const text = JSON.stringify(begun)
  tabStore.setItem(key, text)
  return tabStore.getItem(key) === text
}

const takeBegun = (): Begun | undefined => {
  const kept = tabStore.getItem(key)
  tabStore.removeItem(key)
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
export const Issuers = ({ session, isKept }: IssuersProps) => {
  const { url } = session
  const issuers = useSignal<readonly (ExternalSignIn & { readonly issuer: string })[]>([])
  const { failure, attempt } = useAttempt()
  const load = () =>
    attempt(async () => {
      const found = await findIssuers({ url })
      issuers.value = await Promise.all(
        found.map(async (issuer) => ({ issuer, ...(await beginSignIn({ url }, issuer)) })),
      )
    })
  // This function waits for nothing, because some browsers open a tab only while they handle a click.
  const begin = ({ address, verifier }: ExternalSignIn) => {
    const proof: Proof = { verifier, keep: isKept.value ? 'device' : 'tab' }
    const begun: Begun = { ...proof, place: location.hash }
    if (session.entrance.value || !keepBegun(begun)) openElsewhere(session, address, proof)
    else location.assign(address)
  }
  useEffect(() => {
    if (isSecureContext) load()
  }, [])
  return (
    <>
      {issuers.value.map((each) => (
        <Button key={each.issuer} icon="person" onClick={() => begin(each)}>
          {texts.value.signIn.issuer(each.issuer)}
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

const redeem = async (session: Session, { verifier, keep }: Proof, outcome: string): Promise<void> => {
  const given = new URLSearchParams(outcome)
  const code = given.get('code')
  if (code === null) {
    session.failure.value = failureIn(given)
    return
  }
  await session.signIn({ code, verifier }, keep)
  // The message of this refusal is about the name and the password, but the person has typed neither.
  if (isRefused(session.failure.value)) session.failure.value = failureIn(new URLSearchParams({ error: `${refused}` }))
}

/** `taken` and `begun` end the wait of all other pages: one has the outcome, or a newer sign-in has begun. */
type Message = { readonly outcome: string } | 'taken' | 'begun'

let waiting: BroadcastChannel | undefined

/**
 * Opens the issuer in another tab, because this page may have unsaved work, or because the browser keeps nothing for
 * it. That tab sends the outcome to this page.
 */
const openElsewhere = (session: Session, address: string, proof: Proof): void => {
  waiting?.close()
  const channel = new BroadcastChannel(key)
  const send = (message: Message) => channel.postMessage(message)
  waiting = channel
  channel.onmessage = async ({ data }: MessageEvent<Message>) => {
    if (typeof data === 'object') {
      send('taken')
      await redeem(session, proof, data.outcome)
      // Anybody can write a link with an outcome. The outcome of this sign-in may still come.
      if (session.failure.value) return
    }
    channel.close()
  }
  send('begun')
  open(address, '_blank', 'noopener')
}

/** Gives the outcome to the page that has opened this tab, if there is one. */
const handOver = async (session: Session, outcome: string): Promise<void> => {
  await session.restoreSession()
  const channel = new BroadcastChannel(key)
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data !== 'taken') return
    const message = texts.value.signIn.elsewhere
    session.failure.value = new ServiceError({ status: 0, code: 0, message })
  }
  channel.postMessage({ outcome } satisfies Message)
}

/** Ends a sign-in that this tab has begun. The outcome of any other sign-in changes nothing here. */
export const finishSignIn = async (session: Session, outcome: string): Promise<void> => {
  const begun = takeBegun()
  if (!begun) return handOver(session, outcome)
  if (begun.place !== '') goTo(parseRoute(begun.place), { replace: true })
  await redeem(session, begun, outcome)
}
