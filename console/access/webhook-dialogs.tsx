import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { CreatedWebhook, Delivery, Webhook } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Dialog, FormDialog } from '../parts/dialog.tsx'
import { Field } from '../parts/fields.tsx'
import { formatMoment, withoutDots } from '../parts/format.ts'
import { ListState } from '../parts/list-state.tsx'
import { notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { Table } from './table.tsx'
import { type Reported, reportable, rightFor, typesOf } from './webhook-types.ts'

interface CreateProps {
  readonly onCreated: (webhook: CreatedWebhook) => void
  readonly onClose: () => void
}

/** A webhook reports only changes that its creator may read (V-1). */
export const CreateWebhookDialog = ({ onCreated, onClose }: CreateProps) => {
  const { client, rights } = usePage()
  const t = viewTexts.value.webhooks
  const allowed = reportable.filter((subject) => rights.include([rightFor(subject)]))
  const [targetUrl, description] = [useSignal(''), useSignal('')]
  const chosen = useSignal<readonly Reported[]>(allowed)
  const toggle = (subject: Reported) => {
    chosen.value = allowed.filter((one) => chosen.value.includes(one) !== (one === subject))
  }
  const submit = async () => {
    const settings = { targetUrl: targetUrl.value.trim(), description: description.value.trim() }
    onCreated(await client.webhooks.create({ ...settings, types: typesOf(chosen.value) }))
  }
  return (
    <FormDialog
      title={withoutDots(t.create)}
      action={texts.value.create}
      isReady={targetUrl.value.trim() !== '' && chosen.value.length > 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={t.target} value={targetUrl} maxLength={2_000} hint={t.targetHint} isPlain />
      <Field label={t.description} value={description} maxLength={200} isOptional />
      <fieldset class="choices">
        <legend>{t.reports}</legend>
        {allowed.map((subject) => (
          <label key={subject} class="check">
            <input type="checkbox" checked={chosen.value.includes(subject)} onChange={() => toggle(subject)} />
            {t.subjects[subject]}
          </label>
        ))}
      </fieldset>
    </FormDialog>
  )
}

interface WebhookProps {
  readonly value: Webhook
  readonly onClose: () => void
}

export const hostOf = ({ targetUrl }: Webhook): string => new URL(targetUrl).host

export const RemoveWebhookDialog = ({ value, onClose }: WebhookProps) => {
  const { client } = usePage()
  const t = viewTexts.value.webhooks
  const submit = async () => {
    await client.webhooks.remove(value.id)
    notify(t.removed(hostOf(value)))
  }
  return (
    <FormDialog title={t.removeTitle(hostOf(value))} action={t.remove} isDangerous onSubmit={submit} onClose={onClose}>
      <p>{t.removeText}</p>
    </FormDialog>
  )
}

export const describeAnswer = ({ status, fault = '', milliseconds }: Delivery): string => {
  const t = viewTexts.value.webhooks
  return status === null ? fault : t.answered(status, milliseconds)
}

const isSuccess = ({ status }: Delivery): boolean => status !== null && status >= 200 && status < 300

interface DeliveryRowProps {
  readonly value: Delivery
  readonly onRepeat: () => Promise<void>
}

const DeliveryRow = ({ value, onRepeat }: DeliveryRowProps) => {
  const t = viewTexts.value
  const { time, type, attempt } = value
  return (
    <tr>
      <th scope="row" class="person">
        <span>{t.history.types[type as keyof typeof t.history.types] ?? type}</span>
        <span class="soft">{formatMoment(time, 'exact')}</span>
      </th>
      <td>
        <span class={isSuccess(value) ? 'soft' : 'state state-deleted'}>{describeAnswer(value)}</span>
        {attempt > 1 && <span class="soft"> {t.webhooks.attempt(attempt)}</span>}
      </td>
      <td class="items-more">
        <Button icon="restore" kind="quiet" label={t.webhooks.repeat(formatMoment(time, 'exact'))} onClick={onRepeat} />
      </td>
    </tr>
  )
}

/** Shows the last deliveries, each with the answer of its target. The answer to a repetition is at the top. */
export const DeliveriesDialog = ({ value, onClose }: WebhookProps) => {
  const { client } = usePage()
  const t = viewTexts.value
  const items = useSignal<readonly Delivery[]>()
  const { failure, isBusy, attempt } = useAttempt()
  const read = async () => {
    items.value = await Array.fromAsync(client.webhooks.deliveries(value.id))
  }
  const load = () => attempt(read)
  const repeat = (id: string) =>
    attempt(async () => {
      notify(t.webhooks.repeated(describeAnswer(await client.webhooks.repeat(value.id, id))))
      await read()
    })
  useEffect(() => void load(), [])
  return (
    <Dialog title={t.webhooks.deliveriesTo(hostOf(value))} kind="wide" onClose={onClose}>
      <div class="dialog-body" aria-busy={isBusy.value}>
        <ListState items={items.value} failure={failure.value} onRepeat={load} />
        {items.value?.length === 0 && <p class="empty">{t.webhooks.noDeliveries}</p>}
        {items.value && items.value.length > 0 && (
          <Table label={t.webhooks.deliveries} columns={[t.webhooks.change, t.webhooks.answer]}>
            {items.value.map((delivery) => (
              <DeliveryRow key={delivery.id} value={delivery} onRepeat={() => repeat(delivery.id)} />
            ))}
          </Table>
        )}
      </div>
      <footer>
        <Button onClick={onClose}>{t.access.done}</Button>
      </footer>
    </Dialog>
  )
}
