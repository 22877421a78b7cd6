import type { CloudFormationCustomResourceEvent, Context } from 'aws-lambda'
import { openSites } from '../../lib/aws/open-tables.ts'
import { readSettingsOf } from '../../lib/config/config.ts'
import { answerDeployment, registerDataCentre } from './registration/custom-resource.ts'

const sites = openSites(readSettingsOf('registration'))

export const handler = async (event: CloudFormationCustomResourceEvent, context: Context): Promise<void> => {
  const outcome = await registerDataCentre(sites, event).then(
    () => ({ Status: 'SUCCESS' as const }),
    (error: unknown) => ({ Status: 'FAILED' as const, Reason: `${error} (log stream ${context.logStreamName})` }),
  )
  await answerDeployment(event.ResponseURL, {
    ...outcome,
    PhysicalResourceId: `dc#${event.ResourceProperties['id']}`,
    StackId: event.StackId,
    RequestId: event.RequestId,
    LogicalResourceId: event.LogicalResourceId,
  })
}
