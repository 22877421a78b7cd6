import type { Answer } from '../../lib/contract/contract.ts'
import type { downloadLink } from '../../lib/contract/storage/contract-schemas.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { readFile } from '../../lib/storage/read-file.ts'
import { readResolved } from '../../lib/storage/resolve-path.ts'
import { asDraft, pathOf } from './params.ts'

const noBytes = () => ({})

const presentAsDraft = (query: Switches): boolean => {
  if (!query.has('versionId')) return asDraft(query)
  throw new ServiceError('storageRefused', {
    message: 'A link is to a file as it is now. Leave versionId out, or read the version with ?versionId alone.',
  })
}

/** GET with `?link`: a URL of the file's bytes that needs no token (S-73). Nobody may cache it. */
export const getLink = ({ files, linkTo }: StorageDeps) =>
  operation({ params: pathOf, query: presentAsDraft }, async ({ site, dataCentre, params, query: isDraft }) => {
    const { info } = await readResolved(files, site.id, params.path, (path) =>
      readFile(files, site.id, path, isDraft, noBytes),
    )
    const { url, expires } = await linkTo(info, dataCentre)
    const value: Answer<typeof downloadLink> = { url, expires: new Date(expires).toISOString() }
    return { ...ok({ value }), headers: { 'Cache-Control': 'no-store' } }
  })
