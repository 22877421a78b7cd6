import { useSignal } from '@preact/signals'
import { useEffect, useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { useHeldPage } from '../page/held-page.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { setter } from '../parts/setter.ts'
import { notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { nameOf } from '../uploads/paths.ts'
import { createEditor, type Editor } from './editor.ts'
import { useFiles } from './files-context.ts'
import { PageFrame } from './page-frame.tsx'
import { isPage } from './picture-type.ts'

interface TextSideProps {
  readonly label: string
  readonly text: string
  readonly isBusy?: boolean
  readonly onText?: (text: string) => void
}

const TextSide = ({ label, text, isBusy = false, onText }: TextSideProps) => {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    if (!onText) return
    field.current?.focus()
    field.current?.setSelectionRange(0, 0)
  }, [])
  return (
    <div class="side">
      <label for={id}>{label}</label>
      <textarea
        ref={field}
        id={id}
        value={text}
        readOnly={isBusy || !onText}
        spellcheck={false}
        dir="auto"
        onInput={({ currentTarget }) => onText?.(currentTarget.value)}
      />
    </div>
  )
}

const Conflict = ({ editor, name }: { readonly editor: Editor; readonly name: string }) => {
  const t = texts.value.files.edit
  const theirs = editor.theirs.value
  if (!theirs) return null
  return (
    <div class="note" role="alert">
      <p>{theirs.etag === undefined ? t.wasRemoved(name) : t.wasSaved(name)}</p>
      {theirs.text !== undefined && theirs.etag !== undefined && (
        <div class="note-actions">
          <Button onClick={editor.takeTheirs}>{t.takeTheirs}</Button>
        </div>
      )}
    </div>
  )
}

interface SidesProps {
  readonly editor: Editor
  readonly name: string
  readonly canEdit: boolean
  /** A text that changed during its save would be lost when the dialog closes. */
  readonly isBusy: boolean
}

const Sides = ({ editor, name, canEdit, isBusy }: SidesProps) => {
  const t = texts.value.files.edit
  const theirs = editor.theirs.value
  const onText = (text: string) => {
    editor.text.value = text
  }
  return (
    <div class="sides">
      <TextSide
        key={canEdit}
        label={theirs ? t.mine : t.source}
        text={editor.text.value}
        isBusy={isBusy}
        {...(canEdit && { onText })}
      />
      {theirs?.etag !== undefined && <TextSide label={t.theirs} text={theirs.text ?? texts.value.files.noPreview} />}
      {!theirs && isPage(name) && (
        <div class="side">
          <span>{t.page}</span>
          <PageFrame html={editor.text.value} title={`${t.page} ${name}`} />
        </div>
      )}
    </div>
  )
}

interface QuestionProps {
  readonly onDiscard: () => void
  readonly onContinue: () => void
}

const Question = ({ onDiscard, onContinue }: QuestionProps) => {
  const t = texts.value.files.edit
  return (
    <div class="note" role="alert">
      <p>{t.discardText}</p>
      <div class="note-actions">
        <Button onClick={onDiscard}>{t.discard}</Button>
        <Button
          onClick={({ currentTarget }) => {
            onContinue()
            if (currentTarget instanceof HTMLButtonElement) currentTarget.form?.querySelector('textarea')?.focus()
          }}
        >
          {t.continue}
        </Button>
      </div>
    </div>
  )
}

const Body = (sides: SidesProps) => {
  const { editor, name } = sides
  const t = texts.value.files
  const base = editor.base.value
  if (!base) return null
  if (base.text === undefined) return <p>{t.noPreview}</p>
  return (
    <>
      <Conflict editor={editor} name={name} />
      {base.lineEnd === undefined && <p class="note">{t.edit.mixedLines}</p>}
      {sides.canEdit && (editor.theirs.value ?? base).hasDraft && <p class="note">{t.edit.dropsDraft}</p>}
      <Sides {...sides} />
      {isPage(name) && !editor.theirs.value && <p class="hint">{t.edit.pageHint}</p>}
    </>
  )
}

/** Shows the text of a file, to read or change it. A page is shown beside its source. */
export const EditDialog = ({ path }: { readonly path: string }) => {
  const { store, rights } = useFiles()
  const { client } = usePage()
  const editor = useMemo(() => createEditor(client, path), [client, path])
  const { failure, isBusy, attempt } = useAttempt()
  const isAsking = useSignal(false)
  const name = nameOf(path)
  const t = texts.value.files.edit
  const open = () => attempt(editor.open)
  useEffect(() => {
    open()
  }, [editor])
  const own = useRef(store.dialog.value)
  // A save may end after its dialog was closed. It must not close the next dialog.
  const close = () => {
    if (store.dialog.value === own.current) store.dialog.value = undefined
  }
  const save = () =>
    attempt(async () => {
      if (!(await editor.save())) return
      notify(texts.value.saved(name))
      close()
      store.refresh()
    })
  const isChanged = editor.isChanged.value
  useHeldPage(isChanged, setter(isAsking, true))
  const askToClose = () => {
    if (isChanged) isAsking.value = true
    else close()
  }
  const base = editor.base.value
  const canEdit = rights.canWrite(path) && base?.text !== undefined && base.lineEnd !== undefined
  return (
    <Dialog title={name} kind="full" onClose={askToClose}>
      <form
        method="dialog"
        aria-busy={isBusy.value}
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy.value) save()
        }}
      >
        <div class="dialog-body">
          {isAsking.value && <Question onDiscard={close} onContinue={setter(isAsking, false)} />}
          {!base && failure.value === undefined && <p role="status">{texts.value.loading}</p>}
          <Body editor={editor} name={name} canEdit={canEdit} isBusy={isBusy.value} />
        </div>
        <Failure error={failure.value} onRepeat={base ? save : open} />
        <footer>
          <Button onClick={askToClose}>{texts.value.close}</Button>
          {canEdit && (
            <Button
              type="submit"
              kind={editor.theirs.value ? 'danger' : 'primary'}
              disabled={!isChanged && !editor.theirs.value}
            >
              {editor.theirs.value ? t.saveMine : texts.value.save}
            </Button>
          )}
        </footer>
      </form>
    </Dialog>
  )
}
