import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Session } from './session.ts'

/** A link that brings a token. */
interface Link {
  readonly token: string
  /** The fragment that it leads to. */
  readonly place: string
}

/** Links with a token: one for another token than the visitor's waits for an answer. */
export interface Links {
  /** The link that the visitor is asked about. */
  readonly asked: ReadonlySignal<Link | undefined>
  /** Signs in, or asks. True when it asks at once: the page stays where it is. */
  open(link: Link): boolean
  /** Gives up the link. */
  drop(): void
}

export const createLinks = (session: Session): Links => {
  const waiting = signal<Link | undefined>(undefined)

  const isSignedIn = () => (session.sites.value?.list.length ?? 0) > 0

  /** A kept token comes before the link's; one that could not be tried yet lets the link wait. */
  const signIn = async (link: Link) => {
    waiting.value = link
    if (!session.sites.value) await session.goOn()
    if (isSignedIn() || (!session.sites.value && session.hasKept()) || waiting.value !== link) return
    waiting.value = undefined
    await session.signIn(link.token, 'tab')
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
      else if (!session.sites.value) session.goOn()
      return isAsked
    },
    drop() {
      waiting.value = undefined
    },
  }
}
