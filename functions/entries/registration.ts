import type { CloudFormationCustomResourceEvent, Context } from 'aws-lambda'
import { createSiteDirectory, withoutHistory } from '../../lib/aws/dynamodb/directory-stores.ts'
import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'
import { readRegistrationSettings } from '../../lib/config/config.ts'
import { answerDeployment } from './registration/answer-deployment.ts'
import { registerDataCentre } from './registration/register-data-centre.ts'

const settings = readRegistrationSettings()
const sites = createSiteDirectory({
  dynamodb: createDocumentClient({ region: settings.directoryRegion }),
  table: settings.sitesTable,
  record: withoutHistory,
})

/** The entry of the Lambda function behind the deployment's own resource: CloudFormation waits for its answer at the event's URL. */
export const handler = async (event: CloudFormationCustomResourceEvent, context: Context): Promise<void> => {
  const outcome = await registerDataCentre(sites, event).then(
    () => ({ Status: 'SUCCESS' }),
    (error: unknown) => ({ Status: 'FAILED', Reason: `${error} (log stream ${context.logStreamName})` }),
  )
  await answerDeployment(event.ResponseURL, {
    ...outcome,
    PhysicalResourceId: `dc#${event.ResourceProperties['id']}`,
    StackId: event.StackId,
    RequestId: event.RequestId,
    LogicalResourceId: event.LogicalResourceId,
  })
}
