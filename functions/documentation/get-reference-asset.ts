import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '../../lib/errors.ts'
import { tagOfText } from '../../lib/http/conditions.ts'
import { publicOperation } from '../../lib/http/public-operation.ts'
import { type Reply, text } from '../../lib/http/reply.ts'
import { onceEach } from './once-each.ts'
import { type ReferenceAsset, referenceAssets } from './reference-assets.ts'

const isAsset = (name: string): name is ReferenceAsset => Object.hasOwn(referenceAssets, name)

const load = async (name: ReferenceAsset): Promise<Reply> => {
  const { file, type } = referenceAssets[name]
  const content = await readFile(fileURLToPath(import.meta.resolve(file)), 'utf8')
  return text(type, content, tagOfText(content))
}

/** A file that the reference page is drawn with. 404/100004 when it needs none of that name. */
export const getReferenceAsset = () => {
  const replyOf = onceEach(load)
  return publicOperation(async ({ params }) => {
    const name = params['asset'] ?? ''
    if (!isAsset(name)) throw new ServiceError('routeUnknown')
    return replyOf(name)
  })
}
