import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Session } from './session.ts'

export interface Link {
  readonly token: string
  readonly place: string
}

/** A link with another token than the current one waits for the answer of the user. */
export interface Links {
  readonly asked: ReadonlySignal<Link | undefined>
  /** Signs in, or asks the user first. Returns true if the user is asked, because the page must then stay as it is. */
  open(link: Link): boolean
  drop(): void
}

export const createLinks = (session: Session): Links => {
  const waiting = signal<Link>()

  const isSignedIn = () => (session.entrance.value?.list.length ?? 0) > 0

  /**
   * A saved token has priority over the token of the link. If the saved token could not be tested yet, the link waits.
   */
  const signIn = async (link: Link) => {
    waiting.value = link
    if (!session.entrance.value) await session.restoreSession()
    if (isSignedIn() || (!session.entrance.value && session.hasKept()) || waiting.value !== link) return
    waiting.value = undefined
    await session.signIn({ token: link.token }, 'tab')
  }

  return {
    asked: computed(() =>
      waiting.value && isSignedIn() && !session.isOwn(waiting.value.token) ? waiting.value : undefined,
    ),
    open(link) {
      const isOwn = session.isOwn(link.token)
      const isAsked = isSignedIn() && !isOwn
      if (isAsked) waiting.value = link
      else if (!isOwn) signIn({ ...link, place: '' })
      else if (!session.entrance.value) session.restoreSession()
      return isAsked
    },
    drop() {
      waiting.value = undefined
    },
  }
}
