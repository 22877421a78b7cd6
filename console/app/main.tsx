import { type Signal, signal } from '@preact/signals'
import { render } from 'preact'
import { useEffect, useErrorBoundary, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { createLinks, type Links } from '../page/link.ts'
import { createLive, type Live } from '../page/live.ts'
import { createSession, type Session, takeSecret } from '../page/session.ts'
import { Failure } from '../parts/failure.tsx'
import { focusContent } from '../parts/focus.ts'
import { Loaded } from '../parts/loaded.tsx'
import { setter } from '../parts/setter.ts'
import { deviceStore, tabStore } from '../parts/stores.ts'
import { clearNotices, Toasts } from '../parts/toasts.tsx'
import { followAddress, formatRoute, goTo, isHeld, route } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import { followPreferences } from './preferences.ts'
import { Shell } from './shell.tsx'
import { OtherAddress, SignIn } from './sign-in.tsx'
import { SignInAgain } from './sign-in-again.tsx'
import { showOwnMessages } from './validation.ts'

const loadLinkDialog = async () => (await import('../access/on-demand.ts')).LinkDialog
const loadAcceptInvitation = async () => (await import('../access/on-demand.ts')).AcceptInvitation

interface AppProps {
  readonly session: Session
  readonly live: Live
  readonly links: Links
}

const App = ({ session, live, links }: AppProps) => {
  const [fault, tryAgain] = useErrorBoundary()
  const hasForm = useRef(false)
  const entrance = session.entrance.value
  const wanted = route.value.site
  const asked = links.asked.value
  const site = entrance?.list.find(({ id }) => id === wanted) ?? entrance?.list[0]
  const client = useMemo(() => site && entrance?.choose(site.id), [entrance, site?.id])
  useLayoutEffect(() => {
    // The address names no site, or a site that the token does not cover.
    if (site && site.id !== wanted)
      goTo({ site: site.id, ...(wanted !== undefined && { path: [] }) }, { replace: true })
  }, [site, wanted])
  // A visible form stays during the sign-in, so that its fields keep their texts after a refusal.
  const isForm = !(client && entrance?.me) && (hasForm.current || !session.isBusy.value || entrance !== undefined)
  hasForm.current = isForm
  useEffect(() => {
    if (isForm) document.querySelector<HTMLElement>('.sign-in input')?.focus()
    else if (entrance) focusContent()
  }, [isForm])
  useLayoutEffect(() => {
    if (!entrance) clearNotices()
  }, [entrance])
  if (fault !== undefined) {
    return (
      <main class="welcome">
        <Failure error={fault} onRepeat={tryAgain} />
      </main>
    )
  }
  if (isForm) return <SignIn session={session} />
  if (!client || !entrance?.me) {
    return (
      <p class="opening" role="status">
        {texts.value.loading}
      </p>
    )
  }
  return (
    <>
      <OtherAddress />
      <Shell access={client} me={entrance.me} session={session} live={live} />
      {session.isExpired.value && <SignInAgain session={session} />}
      {asked && <Loaded key={asked.token} load={loadLinkDialog} props={{ session, links, link: asked }} />}
    </>
  )
}

interface InvitedProps {
  readonly session: Session
  readonly invitation: Signal<string | undefined>
}

const Invited = ({ session, invitation }: InvitedProps) =>
  invitation.value === undefined ? null : (
    <Loaded
      load={loadAcceptInvitation}
      props={{
        session,
        invitation: invitation.value,
        onClose: setter(invitation, undefined),
      }}
    />
  )

/** Waits until the sign-in has begun, so that the page shows no form meanwhile. */
const finish = async (session: Session, outcome: string) => {
  try {
    const { finishSignIn } = await import('./issuers.tsx')
    finishSignIn(session, outcome)
  } catch (error) {
    session.failure.value = error
  }
}

const start = async () => {
  // The address of the console begins with the address of the service: `…/prod/console`.
  const url = new URL('.', location.href).href
  const session = createSession({
    url,
    stores: { tab: tabStore, device: deviceStore },
    heldSite: () => (isHeld.value ? route.value.site : undefined),
  })
  const links = createLinks(session)
  const invitation = signal<string>()
  const isVisible = () => document.visibilityState === 'visible'
  const onVisible = (listener: () => void) => {
    document.addEventListener('visibilitychange', listener)
    return () => document.removeEventListener('visibilitychange', listener)
  }
  const onOnline = (listener: () => void) => addEventListener('online', listener)
  const live = createLive({ isVisible, onVisible, onOnline })
  // Somebody may have given the user more rights meanwhile.
  onVisible(() => isVisible() && session.readRights())
  let outcome: string | undefined
  // An open page handles a link with a token without reloading.
  followAddress(() => {
    const { token, invitation: invited, outcome: found, rest } = takeSecret(location.hash)
    if (invited !== undefined) {
      invitation.value = invited
      session.failure.value = undefined
    }
    outcome = found
    if (invited !== undefined || found !== undefined) history.replaceState(null, '', rest || location.pathname)
    if (token === undefined) return
    const isAsked = links.open({ token, place: rest })
    history.replaceState(null, '', isAsked ? formatRoute(route.value) : rest || location.pathname)
  })
  if (outcome === undefined && !session.isBusy.value) session.restoreSession()
  await followPreferences()
  showOwnMessages()
  if (outcome !== undefined) await finish(session, outcome)
  const root = document.getElementById('app')
  if (!root) return
  render(
    <>
      <App session={session} live={live} links={links} />
      <Invited session={session} invitation={invitation} />
      <Toasts />
    </>,
    root,
  )
}

start()
