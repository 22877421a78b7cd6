import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Sites } from '../../client/src/index.ts'
import type { Link, Links } from '../page/link.ts'
import { type Entrance, isRefused, type Session } from '../page/session.ts'
import { useAttempt } from '../parts/attempt.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { goTo, isHeld, parseRoute } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'

interface LinkDialogProps {
  readonly session: Session
  readonly links: Links
  readonly link: Link
}

const SiteNames = ({ text, sites }: { readonly text: string; readonly sites: Sites | undefined }) => (
  <div>
    <p>{text}</p>
    <ul class="site-names">
      {sites?.list.map(({ id, name }) => (
        <li key={id}>
          <bdi>{name}</bdi>
        </li>
      ))}
    </ul>
  </div>
)

/** Asks before the token of a link replaces another signed-in token. */
export const LinkDialog = ({ session, links, link }: LinkDialogProps) => {
  const found = useSignal<Entrance>()
  const { failure, attempt } = useAttempt()
  const t = viewTexts.value.link
  const lookUp = () =>
    attempt(async () => {
      found.value = await session.lookUp(link.token)
    })
  useEffect(() => {
    lookUp()
  }, [])
  const enter = () => {
    if (!found.value) return
    session.enter(link.token, found.value, 'tab')
    links.drop()
    if (link.place && !isHeld.value) goTo(parseRoute(link.place))
  }
  const count = found.value?.list.length
  return (
    <FormDialog
      title={t.title}
      action={t.enter}
      cancel={t.stay}
      isReady={Boolean(count)}
      onSubmit={enter}
      onClose={links.drop}
    >
      <SiteNames text={t.present} sites={session.entrance.value} />
      <div role="status">
        {count === 0 && <p>{t.noSites}</p>}
        {Boolean(count) && <SiteNames text={t.other} sites={found.value} />}
        {!found.value && <p>{failure.value === undefined ? texts.value.loading : t.unknown}</p>}
      </div>
      <Failure error={failure.value} onRepeat={isRefused(failure.value) ? undefined : lookUp} />
      {Boolean(count) && <p class="soft">{session.isOnDevice() ? t.onDevice : t.inTab}</p>}
    </FormDialog>
  )
}
