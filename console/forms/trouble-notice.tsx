import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { fieldNameOf } from './field-names.ts'
import type { FieldsStore, Trouble } from './fields-store.ts'

export const TroubleNotice = ({
  trouble: { field, error, repeat },
  store,
}: {
  readonly trouble: Trouble
  readonly store: FieldsStore
}) => {
  const t = viewTexts.value.forms
  const name = fieldNameOf(field)
  if (error !== undefined) {
    return (
      <div class="stack">
        <p>{t.failed(name)}</p>
        <Failure error={error} onRepeat={repeat} />
      </div>
    )
  }
  return (
    <div class="notice" role="alert">
      <Icon name="warning" />
      <p>{repeat ? t.conflict(name) : t.conflictGone(name)}</p>
      {repeat && <Button onClick={repeat}>{t.changeAnyway}</Button>}
      <Button icon="close" kind="quiet" label={texts.value.close} onClick={store.dismiss} />
    </div>
  )
}
