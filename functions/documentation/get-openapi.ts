import { tagOfText } from '../../lib/http/conditions.ts'
import { type PublicOperation, publicOperation } from '../../lib/http/public-operation.ts'
import { type Reply, text } from '../../lib/http/reply.ts'
import type { DataCentre } from '../../lib/sites/site-directory.ts'
import { onceEach } from './reference.ts'

/** The address that stands in the written document for that of the data centre that answers. */
const writtenAddress = 'http://127.0.0.1:4000'

const documentAt = async (url: string): Promise<Reply> => {
  // Loaded when it is first asked for: no other operation needs it.
  const { default: written } = await import('../../docs/openapi.json', { with: { type: 'json' } })
  const json = JSON.stringify(written).replaceAll(writtenAddress, url)
  return text('application/json', json, tagOfText(json))
}

/** The contract of the service as an OpenAPI document, with the address of the data centre that answers (decisions.md, section 8). */
export const getOpenApi = (findHere: () => Promise<DataCentre>): PublicOperation => {
  const replyAt = onceEach(documentAt)
  return publicOperation(async () => replyAt((await findHere()).url))
}
