import { useEffect } from 'preact/hooks'
import type { SiteClient } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Failure, refuseUnreachable } from '../parts/failure.tsx'
import { formatMoment, formatSize } from '../parts/format.ts'
import { attemptOrNotify, notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { nameOf } from '../uploads/paths.ts'
import { saveBlob } from './download.ts'
import { useFiles } from './files-context.ts'

/** A link leads only to the current version, so the page itself reads the bytes of old versions. */
const downloadVersion = async (client: SiteClient, path: string, version: string): Promise<void> => {
  const content = document.getElementById('content')
  const response = await client.files.read(path, { version })
  const bytes = await response.blob().catch(refuseUnreachable)
  // A sign-out removes the content of the page.
  if (content?.isConnected) saveBlob(bytes, nameOf(path))
}

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
