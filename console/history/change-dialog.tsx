import type { Change } from '../../client/src/index.ts'
import { Dialog } from '../parts/dialog.tsx'
import { More } from '../parts/facts.tsx'
import { linkTo } from '../route/routes.ts'
import { locale } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { actionName, placeName, subjectName } from './change-row.tsx'
import { placeOf } from './places.ts'

interface ChangeDialogProps {
  readonly change: Change
  readonly onClose: () => void
}

const exactly = (iso: string): string =>
  new Date(iso).toLocaleString(locale.value, { dateStyle: 'full', timeStyle: 'long' })

const Detail = ({ value }: { readonly value: unknown }) =>
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
  const t = viewTexts.value.history
  const { subject, actor, at, requestId, details } = change
  const place = placeOf(change)
  const internal = [
    ...(subjectName(change) !== subject && subject !== '' ? [[t.subject, subject] as const] : []),
    ...(requestId === null ? [] : [[t.request, requestId] as const]),
  ]
  return (
    <Dialog title={actionName(change)} onClose={onClose}>
      <div class="dialog-body">
        <dl class="change-details">
          <dt>{t.where}</dt>
          <dd>
            <bdi>{subjectName(change)}</bdi> <bdi class="soft">{placeName(change)}</bdi>
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
        </dl>
        {place && (
          <p>
            <a href={linkTo(place)}>{t.goThere}</a>
          </p>
        )}
        {internal.length > 0 && <More facts={internal} />}
      </div>
    </Dialog>
  )
}
