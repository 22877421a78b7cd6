import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import * as z from 'zod/mini'
import type { SiteDirectory } from '../../../lib/sites/site-directory.ts'

/** What the deployment says of the data centre; CloudFormation makes texts of everything. */
const properties = z.object({
  id: z.string(),
  url: z.url(),
  region: z.string(),
  isDefault: z.stringbool(),
})

/**
 * Writes the data centre's base URL into the directory, so that the others can send callers there. The entry stays when the
 * stack goes: sites may still live there, and a stack that comes back writes it anew.
 */
export const registerDataCentre = async (
  sites: Pick<SiteDirectory, 'putDataCentre'>,
  { RequestType, ResourceProperties }: CloudFormationCustomResourceEvent,
): Promise<void> => {
  if (RequestType !== 'Delete') await sites.putDataCentre(properties.parse(ResourceProperties))
}
