import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Me, SiteClient } from '../../client/src/index.ts'
import { useUploads } from '../files/use-uploads.ts'
import { PageContext } from '../page/context.ts'
import type { Live } from '../page/live.ts'
import { createRights } from '../page/rights.ts'
import type { Session } from '../page/session.ts'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { setter } from '../parts/setter.ts'
import { goTo, isHeld, linkTo, route } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import { createRenewableClient } from './renewable-client.ts'
import { SettingsMenu } from './settings-menu.tsx'
import { signOut } from './sign-in.tsx'
import { views } from './views.ts'

const loadUploadPanel = async () => (await import('../files/on-demand.ts')).UploadPanel
const loadAccount = async () => (await import('../access/on-demand.ts')).AccountDialog

interface ShellProps {
  readonly access: SiteClient
  readonly me: Me
  readonly session: Session
  readonly live: Live
}

const SiteChoice = ({ client }: { readonly client: SiteClient }) =>
  client.sites.length < 2 ? (
    <span class="site-name" title={client.site.name}>
      <bdi>{client.site.name}</bdi>
    </span>
  ) : (
    <select
      class="site-name"
      aria-label={texts.value.shell.site}
      value={client.site.id}
      onChange={({ currentTarget }) => goTo({ site: Number(currentTarget.value), path: [] })}
    >
      {client.sites.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )

export const Shell = ({ access, me, session, live }: ShellProps) => {
  const t = texts.value
  const clients = useRef(new Map<number, SiteClient>())
  const { id } = access.site
  clients.current.set(id, access)
  // Work that began on another site continues with the client of that site.
  const client = useMemo(() => createRenewableClient(() => clients.current.get(id) ?? access), [id])
  const anew = useMemo(() => ({}), [access, live.reconnects.value])
  const uploads = useUploads(client, anew)
  const rights = useMemo(() => createRights(me.sites.find((site) => site.id === id)?.rights ?? []), [me, id])
  const page = useMemo(
    () => ({ client, access: anew, me, rights, live, uploads }),
    [client, anew, me, rights, live, uploads],
  )
  const isAccountShown = useSignal(false)
  // A held page has unsaved work, so its view stays even without its right.
  const offered = views.filter(({ name, right }) => rights.has(right) || (isHeld.value && name === route.value.view))
  const view = offered.find(({ name }) => name === route.value.view) ?? offered[0]
  useLayoutEffect(() => {
    // The address names the shown view, so that its path never opens in another view.
    if (view) goTo({ view: view.name }, { replace: true })
  }, [view, route.value.view])
  const title = view ? t.nav[view.name] : t.shell.noRights
  useEffect(() => (rights.has('history:read') ? live.follow(client) : undefined), [client, access, live, rights])
  useEffect(() => {
    document.title = `${title} · ${client.site.name} · ${t.name}`
  }, [title, client, t])
  return (
    <PageContext.Provider value={page}>
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        {t.shell.skip}
      </button>
      <header class="top">
        <span class="brand">
          <Icon name="folder" />
        </span>
        <SiteChoice client={access} />
        <nav aria-label={t.shell.views}>
          {offered.map(({ name, icon }) => (
            <a
              key={name}
              href={linkTo({ view: name, path: [] })}
              aria-current={name === view?.name ? 'page' : undefined}
            >
              <Icon name={icon} />
              <span>{t.nav[name]}</span>
            </a>
          ))}
        </nav>
        <SettingsMenu onAccount={setter(isAccountShown, true)} onSignOut={() => signOut(session)} />
      </header>
      {live.isOffline.value && (
        <p class="offline" role="status">
          {t.shell.offline}
        </p>
      )}
      <main id="content" tabIndex={-1}>
        <h1 class="unseen">{title}</h1>
        {view && (
          <Loaded key={`${client.site.id} ${view.name}`} load={view.load} props={{}}>
            <p class="opening">{t.loading}</p>
          </Loaded>
        )}
        {!view && (
          <Empty icon="person" title={t.shell.noRights}>
            <p>{t.shell.noRightsHint}</p>
          </Empty>
        )}
      </main>
      {(uploads.all.value.length > 0 || uploads.interrupted.value.length > 0) && (
        <Loaded load={loadUploadPanel} props={{ uploads }} />
      )}
      {isAccountShown.value && (
        <Loaded
          load={loadAccount}
          props={{
            session,
            client,
            me,
            onSignOut: () => signOut(session),
            onClose: setter(isAccountShown, false),
          }}
        />
      )}
    </PageContext.Provider>
  )
}
