import { useEffect } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { formatMoment, formatSize } from '../parts/format.ts'
import { attemptOrNotify, notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { nameOf } from '../uploads/paths.ts'
import { downloadVersion } from './download.ts'
import { useFiles } from './files-context.ts'

export const Versions = ({ path }: { readonly path: string }) => {
  const { store, rights } = useFiles()
  const { client } = usePage()
  const { failure, attempt } = useAttempt()
  const t = texts.value.files
  const { preview } = store
  const read = () => attempt(preview.readVersions)
  const etag = preview.entry.value?.etag
  useEffect(() => {
    read()
  }, [path, etag])
  const restore = (version: string) =>
    attemptOrNotify(async () => {
      await client.files.restore(path, { version, replace: true })
      notify(t.restored(nameOf(path)))
      store.refresh()
    })
  const fetchVersion = (version: string) => attemptOrNotify(() => downloadVersion(client, path, version))
  const versions = preview.versions.value
  return (
    <section class="versions">
      <h3>{t.versions}</h3>
      <Failure error={failure.value} onRepeat={read} />
      {versions && versions.length < 2 ? (
        <p class="soft">{t.versionsNone}</p>
      ) : (
        <ul>
          {versions?.map(({ version, at, size, removed, current }) => {
            const moment = formatMoment(at, 'exact')
            return (
              <li key={version}>
                <span>
                  {moment}
                  <span class="soft"> · {removed ? t.wasRemoved : formatSize(size)}</span>
                </span>
                {current && <span class="badge">{t.current}</span>}
                {!(removed || current) && (
                  <>
                    <Button
                      icon="download"
                      kind="quiet"
                      label={t.downloadVersion(moment)}
                      onClick={() => fetchVersion(version)}
                    />
                    {rights.canWrite(path) && (
                      <Button
                        icon="restore"
                        kind="quiet"
                        label={t.restoreVersion(moment)}
                        onClick={() => restore(version)}
                      />
                    )}
                  </>
                )}
              </li>
            )
          })}
        </ul>
      )}
    </section>
  )
}
