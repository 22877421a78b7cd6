import type { CloudFormationCustomResourceEvent, Context } from 'aws-lambda'
import { readRegistrationConfig } from '../../lib/config.ts'
import { createDocumentClient } from '../../lib/dynamodb.ts'
import { createSitesTable } from '../../lib/sites/sites-table.ts'
import { registerDataCentre } from './register-data-centre.ts'

const { SITES_TABLE, DIRECTORY_REGION } = readRegistrationConfig()
const sites = createSitesTable(createDocumentClient({ region: DIRECTORY_REGION }), SITES_TABLE)

/** The entry of the Lambda function behind the deployment's own resource: CloudFormation waits for its answer at the event's URL. */
export const handler = async (event: CloudFormationCustomResourceEvent, context: Context): Promise<void> => {
  const outcome = await registerDataCentre(sites, event).then(
    () => ({ Status: 'SUCCESS' }),
    (error: unknown) => ({ Status: 'FAILED', Reason: `${error} (log stream ${context.logStreamName})` }),
  )
  const answer = {
    ...outcome,
    PhysicalResourceId: `dc#${event.ResourceProperties['id']}`,
    StackId: event.StackId,
    RequestId: event.RequestId,
    LogicalResourceId: event.LogicalResourceId,
  }
  // CloudFormation's URL is signed for a request without a content type.
  await fetch(event.ResponseURL, { method: 'PUT', headers: { 'Content-Type': '' }, body: JSON.stringify(answer) })
}
