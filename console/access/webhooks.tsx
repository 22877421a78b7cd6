import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { type Change, ServiceError, type Webhook } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { useLiveList } from '../page/live-list.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { useRetainedFocus } from '../parts/focus.ts'
import { formatMoment } from '../parts/format.ts'
import { MenuButton, type MenuItem } from '../parts/menu.tsx'
import { notify, notifyFailure } from '../parts/toasts.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { Table } from './table.tsx'
import {
  CreateWebhookDialog,
  DeliveriesDialog,
  describeAnswer,
  hostOf,
  RemoveWebhookDialog,
  SecretOfWebhookDialog,
} from './webhook-dialogs.tsx'
import { describeTypes } from './webhook-types.ts'

type Opened =
  | { readonly kind: 'create' }
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'deliveries' | 'remove'; readonly webhook: Webhook }

const isAboutWebhooks = ({ type }: Change): boolean => type.startsWith('webhook.')

/** V-17: a deployment without webhooks answers as for an unknown path. */
const lacksWebhooks = (failure: unknown): boolean => failure instanceof ServiceError && failure.code === 100004

const State = ({ enabled, failingSince, lastSuccess }: Webhook) => {
  const t = viewTexts.value.webhooks
  return (
    <>
      {!enabled && <span class="state state-deleted">{t.disabled}</span>}
      {failingSince && <span class="state state-deleted">{t.failingSince(formatMoment(failingSince))}</span>}
      {lastSuccess && <span class="soft">{t.lastSuccess(formatMoment(lastSuccess))}</span>}
    </>
  )
}

interface TableProps {
  readonly webhooks: readonly Webhook[]
  readonly itemsFor: (webhook: Webhook) => readonly MenuItem[]
}

const WebhooksTable = ({ webhooks, itemsFor }: TableProps) => {
  const t = viewTexts.value
  return (
    <Table label={t.webhooks.list} columns={[t.webhooks.target, t.webhooks.reports, t.access.state]}>
      {webhooks.map((webhook) => (
        <tr key={webhook.id}>
          <th scope="row" class="person">
            <bdi>{hostOf(webhook)}</bdi>
            <bdi class="soft">{webhook.description}</bdi>
          </th>
          <td class="person-rights">
            <div>{describeTypes(webhook.types)}</div>
            {webhook.subject !== '' && <div class="soft">{t.webhooks.below(webhook.subject)}</div>}
          </td>
          <td>
            <State {...webhook} />
          </td>
          <td class="items-more">
            <MenuButton icon="more" label={t.access.actions(hostOf(webhook))} items={itemsFor(webhook)} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** V-1: the view needs the right `access:write`. A new webhook also needs `history:read`. */
export const Webhooks = () => {
  const { client, rights } = usePage()
  const t = viewTexts.value.webhooks
  const heading = useId()
  const { items, failure, load } = useLiveList<Webhook>((client) => client.webhooks.list(), isAboutWebhooks)
  const opened = useSignal<Opened | undefined>(undefined)
  const created = useSignal<string | undefined>(undefined)
  const box = useRetainedFocus<HTMLElement>()
  const show = (dialog: Opened | undefined) => {
    opened.value = dialog
  }
  const close = () => {
    show(created.value === undefined ? undefined : { kind: 'secret', secret: created.value })
    created.value = undefined
    load()
  }
  const act = async (work: () => Promise<void>) => {
    try {
      await work()
      await load()
    } catch (error) {
      notifyFailure('', error, () => act(work))
    }
  }
  const test = (id: string) => act(async () => notify(t.tested(describeAnswer(await client.webhooks.test(id)))))
  const enable = (id: string, enabled: boolean) => act(async () => void (await client.webhooks.change(id, { enabled })))
  const rotate = (id: string) =>
    act(async () => {
      const { secret } = await client.webhooks.change(id, { rotate: true })
      if (secret !== undefined) show({ kind: 'secret', secret })
    })
  const itemsFor = (webhook: Webhook): readonly MenuItem[] => {
    const { id, enabled } = webhook
    return [
      { label: t.test, icon: 'upload', run: () => test(id) },
      { label: t.showDeliveries, icon: 'history', run: () => show({ kind: 'deliveries', webhook }) },
      enabled
        ? { label: t.disable, icon: 'pause', run: () => enable(id, false) }
        : { label: t.enable, icon: 'play', run: () => enable(id, true) },
      { label: t.rotate, icon: 'restore', run: () => rotate(id) },
      { label: t.remove, icon: 'remove', isDangerous: true, run: () => show({ kind: 'remove', webhook }) },
    ]
  }
  const dialog = opened.value
  if (lacksWebhooks(failure.value)) return null
  return (
    <section ref={box} aria-labelledby={heading} tabIndex={-1}>
      <div class="pane-head">
        <h2 id={heading}>{t.list}</h2>
        {rights.has('history:read') && (
          <Button icon="plus" onClick={() => show({ kind: 'create' })}>
            {t.create}
          </Button>
        )}
      </div>
      <p class="soft">{t.purpose}</p>
      {failure.value !== undefined && <Failure error={failure.value} onRepeat={load} />}
      {!items.value && failure.value === undefined && <p class="empty">{viewTexts.value.loading}</p>}
      {items.value && items.value.length > 0 && <WebhooksTable webhooks={items.value} itemsFor={itemsFor} />}
      {dialog?.kind === 'create' && (
        <CreateWebhookDialog
          onCreated={({ secret }) => {
            created.value = secret
          }}
          onClose={close}
        />
      )}
      {dialog?.kind === 'secret' && <SecretOfWebhookDialog secret={dialog.secret} onClose={() => show(undefined)} />}
      {dialog?.kind === 'deliveries' && <DeliveriesDialog value={dialog.webhook} onClose={close} />}
      {dialog?.kind === 'remove' && <RemoveWebhookDialog value={dialog.webhook} onClose={close} />}
    </section>
  )
}
