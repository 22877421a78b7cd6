import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { Button } from '../parts/button.tsx'
import { Facts, More } from '../parts/facts.tsx'
import { Failure } from '../parts/failure.tsx'
import { useContentFocus } from '../parts/focus.ts'
import { formatMoment, formatSize } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { setter } from '../parts/setter.ts'
import { goTo } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import { join } from '../uploads/paths.ts'
import { downloadFile } from './commands.ts'
import { useFiles } from './files-context.ts'
import { isPage } from './picture-type.ts'
import { Player } from './player.tsx'
import type { Preview } from './preview.ts'
import type { FoundEntry } from './preview-content.ts'
import { Versions } from './versions.tsx'

interface DetailsProps {
  readonly name: string
}

const Seen = ({ preview, name, path }: DetailsProps & { readonly preview: Preview; readonly path: string }) => {
  const t = texts.value.files
  const content = preview.content.value
  if (!content) return <p class="soft">{texts.value.loading}</p>
  if (content.kind === 'picture')
    return <img class="seen-picture" src={content.url} alt={name} onError={preview.cannotShow} />
  if (content.kind === 'audio' || content.kind === 'video')
    return <Player kind={content.kind} name={name} path={path} />
  if (content.kind === 'none') return <p class="soft">{t.noPreview}</p>
  return (
    <>
      <pre class="seen-text" tabIndex={0} aria-label={name}>
        {content.text}
      </pre>
      {content.isCut && <p class="hint">{t.isCut}</p>}
    </>
  )
}

const Draft = ({ path }: { readonly path: string }) => {
  const { store, rights } = useFiles()
  const t = texts.value.files
  const { entry, isDraft } = store.preview
  const draft = entry.value?.draft
  if (!draft) return null
  const discard = setter(store.dialog, { kind: 'removeDraft', path })
  return (
    <div class="note">
      <p>
        <strong>{t.draft}</strong> {formatSize(draft.size)}, {formatMoment(draft.lastModified)}
      </p>
      <div class="note-actions">
        <Button onClick={() => void store.preview.showDraft(!isDraft.value)}>
          {isDraft.value ? t.showLive : t.showDraft}
        </Button>
        {rights.canWrite(path) && <Button onClick={discard}>{t.removeDraft}</Button>}
      </div>
    </div>
  )
}

const EditButton = ({ entry, path }: { readonly entry: FoundEntry; readonly path: string }) => {
  const { store, rights } = useFiles()
  const t = texts.value.files.edit
  const content = store.preview.content.value
  const canEdit = rights.canWrite(path) && !entry.workflow
  if (content?.kind !== 'text' || !content.isEditable) return null
  if (!canEdit && !isPage(path)) return null
  const edit = setter(store.dialog, { kind: 'edit', path })
  return (
    <Button icon={canEdit ? 'rename' : 'page'} onClick={edit}>
      {canEdit ? (isPage(path) ? t.showAndEdit : t.edit) : t.show}
    </Button>
  )
}

const FileFacts = ({ entry }: { readonly entry: FoundEntry }) => {
  const t = texts.value.files
  const { size, lastModified, contentType, fingerprint } = entry
  const facts = [
    [t.columns.size, formatSize(size)],
    [t.columns.lastModified, lastModified && formatMoment(lastModified)],
    [t.type, contentType],
  ] as const
  return (
    <>
      <Facts facts={facts} />
      {fingerprint && <More facts={[[t.fingerprint, fingerprint]]} />}
    </>
  )
}

const Panel = ({ name, path }: DetailsProps & { readonly path: string }) => {
  const { store } = useFiles()
  const { client } = usePage()
  const t = texts.value.files
  const { preview } = store
  useEffect(() => {
    preview.open(path)
    return preview.close
  }, [path])
  const panel = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    // On a narrow screen the panel covers the list.
    if (matchMedia('(max-width: 820px)').matches) panel.current?.focus()
  }, [])
  useContentFocus(panel)
  const close = () => goTo({ query: {} })
  // At first, `preview` still contains the previous file.
  const entry = preview.path.value === path ? preview.entry.value : undefined
  return (
    <aside
      ref={panel}
      class="details"
      tabIndex={-1}
      aria-label={t.details}
      onKeyDown={({ key }) => {
        if (key === 'Escape') close()
      }}
    >
      <header>
        <h2>
          <bdi>{name}</bdi>
        </h2>
        <Button icon="close" kind="quiet" label={texts.value.close} onClick={close} />
      </header>
      <div class="details-body">
        <Failure error={preview.failure.value} onRepeat={preview.refresh} />
        {entry?.type === 'file' && (
          <>
            {entry.workflow && (
              <p class="note">
                <Icon name="warning" /> {t.workflow}
              </p>
            )}
            <Draft path={path} />
            <Seen preview={preview} name={name} path={path} />
            <EditButton entry={entry} path={path} />
            <Button icon="download" onClick={() => downloadFile(client, path)}>
              {t.download}
            </Button>
          </>
        )}
        {entry && <FileFacts entry={entry} />}
        {entry?.type === 'file' && <Versions path={path} />}
      </div>
    </aside>
  )
}

export const Details = ({ name }: DetailsProps) => {
  const path = join(useFiles().store.folder.path.value, name)
  return <Panel key={path} name={name} path={path} />
}
