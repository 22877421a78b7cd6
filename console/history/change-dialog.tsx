import type { Change } from '../../client/src/index.ts'
import { Dialog } from '../parts/dialog.tsx'
import { linkTo } from '../route/routes.ts'
import { locale, texts } from '../texts/texts.ts'
import { actionName, subjectName } from './change-row.tsx'
import { placeOf } from './places.ts'

interface ChangeDialogProps {
  readonly change: Change
  readonly onClose: () => void
}

const exactly = (iso: string): string =>
  new Date(iso).toLocaleString(locale.value, { dateStyle: 'full', timeStyle: 'long' })

const Detail = ({ value }: { readonly value: string | number | boolean | readonly (string | number | boolean)[] }) =>
  Array.isArray(value) ? (
    <ul class="change-names">
      {value.map((each) => (
        <li key={each}>
          <bdi>{String(each)}</bdi>
        </li>
      ))}
    </ul>
  ) : (
    <bdi>{String(value)}</bdi>
  )

export const ChangeDialog = ({ change, onClose }: ChangeDialogProps) => {
  const t = texts.value.history
  const { subject, actor, at, requestId, details } = change
  const place = placeOf(change)
  return (
    <Dialog title={actionName(change)} onClose={onClose}>
      <div class="dialog-body">
        <dl class="change-details">
          <dt>{t.where}</dt>
          <dd>
            <bdi>{subjectName(change)}</bdi>
            {subjectName(change) !== subject && subject !== '' && <bdi class="mono soft">{subject}</bdi>}
          </dd>
          <dt>{t.who}</dt>
          <dd>
            <bdi>{actor}</bdi>
          </dd>
          <dt>{t.at}</dt>
          <dd>
            <time dateTime={at}>{exactly(at)}</time>
          </dd>
          {Object.entries(details ?? {}).map(([name, value]) => [
            <dt key={name}>{t.detailNames[name] ?? name}</dt>,
            <dd key={`${name}:`}>
              <Detail value={value} />
            </dd>,
          ])}
          {requestId !== null && [
            <dt key="request">{t.request}</dt>,
            <dd key="request:" class="mono">
              {requestId}
            </dd>,
          ]}
        </dl>
        {place && (
          <p>
            <a href={linkTo(place)}>{t.goThere}</a>
          </p>
        )}
      </div>
    </Dialog>
  )
}
