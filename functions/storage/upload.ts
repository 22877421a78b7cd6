import type { StorageDeps } from '../../lib/deps.ts'
import { operation } from '../../lib/http/operation.ts'
import { uploadFiles } from '../../lib/storage/upload-files.ts'
import { incomingFiles } from './incoming-files.ts'
import { pathOf } from './params.ts'
import { receiveUpload } from './receive-upload.ts'

/** Operation 12: uploads the files of a multipart body into a folder, all or nothing. 200 with the status. */
export const upload = (deps: StorageDeps) =>
  operation({ params: pathOf }, (input) =>
    receiveUpload(deps, input, (body) => {
      const files = incomingFiles(body, input.headers['content-type'])
      return uploadFiles(deps, input.site.id, input.params.path, files, input.author)
    }),
  )
