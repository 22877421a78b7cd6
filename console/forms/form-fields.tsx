import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Field, WebForm } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { Button } from '../parts/button.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { useRetainedFocus } from '../parts/focus.ts'
import { ListState } from '../parts/list-state.tsx'
import { setter } from '../parts/setter.ts'
import { notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { AddField } from './add-field.tsx'
import { fieldNameOf } from './field-names.ts'
import { FieldRow } from './field-row.tsx'
import { type FieldsStore, toNewField } from './fields-store.ts'
import { FormPreview } from './form-preview.tsx'
import { TroubleNotice } from './trouble-notice.tsx'

interface FormFieldsProps {
  readonly form: WebForm
  readonly store: FieldsStore
}

export const FormFields = ({ form, store }: FormFieldsProps) => {
  const t = viewTexts.value.forms
  const canWrite = usePage().rights.has('forms:write')
  const isAdding = useSignal(false)
  const isPreviewed = useSignal(false)
  const removing = useSignal<Field>()
  const announcement = useSignal('')
  const handle = useRef<number | undefined>(undefined)
  const list = useRef<HTMLOListElement>(null)
  const fields = store.fields.value
  const pane = useRetainedFocus<HTMLDivElement>()

  // A row that moves loses the focus, so it gets the focus back for the next key.
  useEffect(() => {
    if (handle.current === undefined || document.activeElement !== document.body) return
    list.current?.querySelector<HTMLElement>(`[data-field="${handle.current}"] .field-handle`)?.focus()
  }, [fields])

  const announcePosition = (field: Field) => {
    const now = store.fields.value ?? []
    announcement.value = t.moved(fieldNameOf(field), now.findIndex(({ id }) => id === field.id) + 1, now.length)
  }
  const remove = async (field: Field) => {
    const gone = await store.remove(field.id)
    if (!gone) return
    const name = fieldNameOf(field)
    const undo = async () => {
      await store.undoRemoval(gone)
      if (!store.trouble.value) notify(viewTexts.value.added(name))
    }
    notify(viewTexts.value.removed(name), toNewField(gone) && { label: texts.value.undo, run: undo })
  }

  return (
    <div ref={pane} class="pane" tabIndex={-1}>
      <div class="pane-head">
        <h2>
          <bdi>{form.name}</bdi>
        </h2>
        {fields && <span class="soft">{t.count(fields.length)}</span>}
        {fields && fields.length > 0 && (
          <Button icon="page" onClick={setter(isPreviewed, true)}>
            {t.preview}
          </Button>
        )}
        {canWrite && (
          <Button kind="primary" icon="plus" disabled={!fields} onClick={setter(isAdding, true)}>
            {t.add}
          </Button>
        )}
      </div>
      <ListState items={fields} failure={store.failure.value} onRepeat={store.load} />
      {store.trouble.value && <TroubleNotice trouble={store.trouble.value} store={store} />}
      <p class="unseen" role="status">
        {announcement}
      </p>
      {fields?.length === 0 && (
        <Empty icon="form" title={t.noFields}>
          {canWrite && <p>{t.noFieldsHint}</p>}
        </Empty>
      )}
      {fields && fields.length > 0 && (
        <ol ref={list} class="fields" aria-label={t.fields(form.name)}>
          {fields.map((field, index) => (
            <FieldRow
              key={field.id}
              field={field}
              index={index}
              count={fields.length}
              canChange={canWrite}
              onMandatory={(mandatory) => store.setMandatory(field.id, mandatory)}
              onMove={async (before) => {
                handle.current = field.id
                await store.move(field.id, before)
                announcePosition(field)
              }}
              onStep={async (step) => {
                handle.current = field.id
                await store.moveBy(field.id, step)
                announcePosition(field)
              }}
              onRemove={() => {
                if (toNewField(field)) remove(field)
                else removing.value = field
              }}
            />
          ))}
        </ol>
      )}
      {isPreviewed.value && <FormPreview form={form} fields={fields ?? []} onClose={setter(isPreviewed, false)} />}
      {isAdding.value && <AddField form={form} store={store} onClose={setter(isAdding, false)} />}
      {removing.value && (
        <FormDialog
          title={t.removeForGood(fieldNameOf(removing.value))}
          action={t.remove}
          isDangerous
          onSubmit={async () => {
            if (removing.value) await remove(removing.value)
          }}
          onClose={setter(removing, undefined)}
        >
          <p>{t.removeWarning}</p>
        </FormDialog>
      )}
    </div>
  )
}
