import { type Change, ServiceError, type Webhook } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { useLiveList } from '../page/live-list.ts'
import { Button } from '../parts/button.tsx'
import { formatMoment } from '../parts/format.ts'
import { MenuButton, type MenuItem } from '../parts/menu.tsx'
import { attemptOrNotify, notify } from '../parts/toasts.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { useDialogs } from './dialogs.ts'
import { SecretDialog, type SecretOf } from './secret-dialog.tsx'
import { Section } from './section.tsx'
import { Table } from './table.tsx'
import {
  CreateWebhookDialog,
  DeliveriesDialog,
  describeAnswer,
  hostOf,
  RemoveWebhookDialog,
} from './webhook-dialogs.tsx'
import { describeTypes, rightsToChange } from './webhook-types.ts'

type Opened =
  | { readonly kind: 'create' }
  | SecretOf<'webhook'>
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
            <MenuButton icon="more" label={t.actions(hostOf(webhook))} items={itemsFor(webhook)} />
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
  const list = useLiveList<Webhook>((client) => client.webhooks.list(), isAboutWebhooks)
  const webhooks = list.items.value
  const { opened: dialog, show, follow, close } = useDialogs<Opened>(list.load)
  const act = (work: () => Promise<void>) =>
    attemptOrNotify(async () => {
      await work()
      await list.load()
    })
  const test = (id: string) => act(async () => notify(t.tested(describeAnswer(await client.webhooks.test(id)))))
  const enable = (webhook: Webhook, enabled: boolean) =>
    act(async () => {
      await client.webhooks.change(webhook.id, { enabled })
      notify(viewTexts.value.switched(hostOf(webhook), enabled))
    })
  const rotate = (id: string) =>
    act(async () => {
      const { secret } = await client.webhooks.change(id, { rotate: true })
      if (secret !== undefined) follow({ kind: 'webhook', secret })
    })
  const itemsFor = (webhook: Webhook): readonly MenuItem[] => {
    const { id, enabled } = webhook
    const changes: readonly MenuItem[] = [
      enabled
        ? { label: t.disable, icon: 'pause', run: () => enable(webhook, false) }
        : { label: t.enable, icon: 'play', run: () => enable(webhook, true) },
      { label: t.rotate, icon: 'restore', run: () => rotate(id) },
    ]
    return [
      { label: t.test, icon: 'upload', run: () => test(id) },
      { label: t.showDeliveries, icon: 'history', run: () => show({ kind: 'deliveries', webhook }) },
      ...(rights.include(rightsToChange(webhook.types)) ? changes : []),
      { label: t.remove, icon: 'remove', isDangerous: true, run: () => show({ kind: 'remove', webhook }) },
    ]
  }
  if (lacksWebhooks(list.failure.value)) return null
  return (
    <Section
      title={t.list}
      purpose={t.purpose}
      list={list}
      action={
        rights.has('history:read') && (
          <Button icon="plus" onClick={() => show({ kind: 'create' })}>
            {t.create}
          </Button>
        )
      }
    >
      {webhooks && webhooks.length > 0 && <WebhooksTable webhooks={webhooks} itemsFor={itemsFor} />}
      {dialog?.kind === 'create' && (
        <CreateWebhookDialog onCreated={({ secret }) => follow({ kind: 'webhook', secret })} onClose={close} />
      )}
      {dialog?.kind === 'webhook' && <SecretDialog {...dialog} onClose={close} />}
      {dialog?.kind === 'deliveries' && <DeliveriesDialog value={dialog.webhook} onClose={close} />}
      {dialog?.kind === 'remove' && <RemoveWebhookDialog value={dialog.webhook} onClose={close} />}
    </Section>
  )
}
