import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import * as z from 'zod/mini'
import type { SiteDirectory } from '../../../lib/sites/site-directory.ts'

// CloudFormation turns every value into a text.
const properties = z.object({
  id: z.string(),
  url: z.url(),
  region: z.string(),
  isDefault: z.stringbool(),
})

/**
 * Writes the data centre's base URL into the directory, so that other data centres can redirect callers. The entry
 * survives the removal of the stack: sites may still live there, and a new stack writes it again.
 */
export const registerDataCentre = async (
  sites: Pick<SiteDirectory, 'putDataCentre'>,
  { RequestType, ResourceProperties }: CloudFormationCustomResourceEvent,
): Promise<void> => {
  if (RequestType !== 'Delete') await sites.putDataCentre(properties.parse(ResourceProperties))
}
