import { useSignal } from '@preact/signals'
import type { Me, SiteClient } from '../../client/src/index.ts'
import type { Session } from '../page/session.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { PasswordField } from '../parts/fields.tsx'
import { formatMoment } from '../parts/format.ts'
import { notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { describeEntry } from './describe-rights.ts'
import { NewPassword, useNewPassword } from './new-password.tsx'

interface AccountProps {
  readonly session: Session
  readonly client: SiteClient
  readonly me: Me
  readonly onSignOut: () => void
  readonly onClose: () => void
}

const ChangePassword = ({ client }: Pick<AccountProps, 'client'>) => {
  const t = viewTexts.value.account
  const old = useSignal('')
  const { password, repeated, isReady } = useNewPassword()
  const { failure, isBusy, attempt } = useAttempt()
  const change = async () => {
    await client.access.changePassword({ password: password.value, oldPassword: old.value })
    for (const field of [old, password, repeated]) field.value = ''
    notify(t.passwordChanged)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (!isBusy.value && isReady.value) attempt(change)
  }
  return (
    <form class="account-password" onSubmit={submit} aria-busy={isBusy.value}>
      <h3>{t.changePassword}</h3>
      <PasswordField label={t.oldPassword} value={old} />
      <NewPassword password={password} repeated={repeated} />
      <Failure error={failure.value} />
      <Button type="submit" disabled={!isReady.value || old.value === ''}>
        {t.changePassword}
      </Button>
    </form>
  )
}

const Sites = ({ me, client }: Pick<AccountProps, 'me' | 'client'>) => (
  <section class="stack">
    <h3>{viewTexts.value.account.sites}</h3>
    <dl class="account-sites">
      {me.sites.map((site) => (
        <div key={site.id}>
          <dt>
            <bdi>{client.sites.find(({ id }) => id === site.id)?.name ?? site.id}</bdi>
          </dt>
          {describeEntry(site).map((right) => (
            <dd key={right}>{right}</dd>
          ))}
        </div>
      ))}
    </dl>
  </section>
)

const SignOutButtons = ({
  session,
  isPerson,
  onSignOut,
}: Omit<AccountProps, 'me' | 'client'> & { isPerson: boolean }) => {
  const t = viewTexts.value.account
  const { failure, attempt } = useAttempt()
  const endAll = () => attempt(() => session.signOut({ all: true }))
  return (
    <>
      <Failure error={failure.value} onRepeat={endAll} />
      <footer>
        {isPerson && <Button onClick={endAll}>{t.signOutEverywhere}</Button>}
        <Button icon="signOut" onClick={onSignOut}>
          {texts.value.signIn.signOut}
        </Button>
      </footer>
    </>
  )
}

export const AccountDialog = (props: AccountProps) => {
  const { me, client, onClose } = props
  const t = viewTexts.value.account
  const isPerson = me.kind === 'session'
  const name = me.displayName && me.displayName !== me.name ? `${me.displayName} (${me.name})` : me.name
  return (
    <Dialog title={texts.value.shell.account} kind="wide" onClose={onClose}>
      <div class="dialog-body">
        <div>
          <p>
            <strong>
              <bdi>{name}</bdi>
            </strong>
          </p>
          <p class="soft">
            {t.kinds[me.kind]} {t.until(formatMoment(me.expires))}
          </p>
        </div>
        <Sites me={me} client={client} />
        {isPerson && me.hasPassword && <ChangePassword client={client} />}
      </div>
      <SignOutButtons {...props} isPerson={isPerson} />
    </Dialog>
  )
}
