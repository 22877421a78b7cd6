import { useSignal } from '@preact/signals'
import { usePage } from '../page/context.ts'
import { Button } from '../parts/button.tsx'
import { messageOf } from '../parts/failure.tsx'
import { useContentFocus, useRetainedFocus } from '../parts/focus.ts'
import { formatSize } from '../parts/format.ts'
import { Progress } from '../parts/progress.tsx'
import { Rows } from '../parts/rows.tsx'
import { notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { nameOf } from '../uploads/paths.ts'
import { resumeInterrupted } from '../uploads/resume-interrupted.ts'
import { runningFirst, type Stage, type Upload } from '../uploads/upload-list.ts'
import type { Uploads } from '../uploads/uploads.ts'
import { CollisionDialog } from './collision-dialog.tsx'
import { useFileDialogs } from './file-dialogs.tsx'

interface UploadPanelProps {
  readonly uploads: Uploads
}

const UploadRow = ({ upload, uploads }: UploadPanelProps & { readonly upload: Upload }) => {
  const t = texts.value.uploads
  const { id, path, file, stage, sent, error } = upload
  const name = nameOf(path)
  const isMoving = stage === 'sending' || stage === 'waiting'
  const fault = stage === 'failed' ? messageOf(error) : undefined
  return (
    <div role="listitem" class={`upload is-${stage}`}>
      <span class="upload-name" title={`/${path}`}>
        <bdi>{name}</bdi>
        <span class="hint" title={fault}>
          {fault ?? `${t.stages[stage]} · ${formatSize(file.size)}`}
        </span>
      </span>
      {stage === 'sending' && <Progress label={name} sent={sent} total={file.size} />}
      <span class="upload-actions">
        {/* Pause and resume are the same button, so that the button keeps the focus. */}
        {(isMoving || stage === 'paused') && (
          <Button
            icon={isMoving ? 'pause' : 'play'}
            kind="quiet"
            label={isMoving ? t.pause(name) : t.resume(name)}
            onClick={() => (isMoving ? uploads.pause(id) : uploads.resume(id))}
          />
        )}
        {stage === 'failed' && (
          <Button icon="refresh" kind="quiet" label={t.repeat(name)} onClick={() => uploads.resume(id)} />
        )}
        {stage !== 'done' && stage !== 'skipped' && (
          <Button icon="close" kind="quiet" label={t.cancel(name)} onClick={() => uploads.cancel(id)} />
        )}
      </span>
    </div>
  )
}

const Interrupted = ({ uploads }: UploadPanelProps) => {
  const t = texts.value.uploads
  const { fields, choose } = useFileDialogs((given) => {
    const missing = resumeInterrupted(uploads, given)
    if (missing > 0) notify(t.stillMissing(missing))
  })
  return (
    <div class="note">
      <p>{t.interrupted(uploads.interrupted.value.length)}</p>
      <div class="note-actions">
        <Button onClick={() => choose('files')}>{t.chooseFiles}</Button>
        <Button onClick={() => choose('folder')}>{t.chooseFolder}</Button>
        <Button kind="quiet" onClick={uploads.forgetInterrupted}>
          {t.forget}
        </Button>
      </div>
      {fields}
    </div>
  )
}

const hasStage = ({ all }: Uploads, ...stages: readonly Stage[]) =>
  all.value.some(({ stage }) => stages.includes(stage))

const Controls = ({ uploads }: UploadPanelProps) => {
  const t = texts.value.uploads
  const isAny = (...stages: readonly Stage[]) => hasStage(uploads, ...stages)
  return (
    <div class="uploads-controls">
      {isAny('sending', 'waiting') && <Button onClick={() => uploads.pause()}>{t.pauseAll}</Button>}
      {isAny('paused', 'failed') && (
        <Button onClick={() => uploads.resume()}>{isAny('paused') ? t.resumeAll : texts.value.repeat}</Button>
      )}
      {isAny('sending', 'waiting', 'paused', 'asking') && (
        <Button onClick={() => uploads.cancel()}>{t.cancelAll}</Button>
      )}
    </div>
  )
}

/** Every view shows this panel while uploads exist. */
export const UploadPanel = ({ uploads }: UploadPanelProps) => {
  const isFolded = useSignal(false)
  const panel = useRetainedFocus<HTMLElement>()
  const t = texts.value.uploads
  const all = runningFirst(uploads.all.value)
  const { sent, bytes, done, open } = uploads.totals.value
  const question = uploads.question.value
  const isOffline = usePage().live.isOffline.value
  useContentFocus(panel)
  return (
    <section ref={panel} class="uploads" tabIndex={-1} aria-label={t.title}>
      <header>
        <h2>{t.title}</h2>
        <span role="status" class="soft">
          {all.length > 0 && t.summary(texts.value.part(done, all.length))}
        </span>
        <Button
          icon={isFolded.value ? 'up' : 'down'}
          kind="quiet"
          label={isFolded.value ? t.unfold : t.fold}
          expanded={!isFolded.value}
          onClick={() => {
            isFolded.value = !isFolded.value
          }}
        />
        {hasStage(uploads, 'failed', 'done', 'skipped') && (
          <Button icon="close" kind="quiet" label={t.clear} onClick={uploads.clear} />
        )}
      </header>
      {open > 0 && (
        <Progress label={t.title} sent={sent} total={bytes} rate={uploads.rate.value} isOffline={isOffline} />
      )}
      {!isFolded.value && (
        <>
          {uploads.interrupted.value.length > 0 && <Interrupted uploads={uploads} />}
          {all.length > 0 && (
            <div class="uploads-list">
              <Rows
                box={{ class: 'rows', role: 'list', 'aria-label': t.title, tabIndex: 0 }}
                items={all}
                row={(upload) => <UploadRow key={upload.id} upload={upload} uploads={uploads} />}
              />
            </div>
          )}
          <Controls uploads={uploads} />
        </>
      )}
      {question && <CollisionDialog key={question.id} upload={question} uploads={uploads} />}
    </section>
  )
}
