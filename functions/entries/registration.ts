import type { CloudFormationCustomResourceEvent, CloudFormationCustomResourceResponse, Context } from 'aws-lambda'
import * as z from 'zod/mini'
import { openSites } from '../../lib/aws/open-tables.ts'
import { readSettingsOf } from '../../lib/config/config.ts'

const sites = openSites(readSettingsOf('registration'))

// CloudFormation turns every value into a text.
const properties = z.object({ id: z.string(), url: z.url(), region: z.string(), isDefault: z.stringbool() })

/**
 * Writes the base URL of the data centre into the directory, so that other data centres can redirect callers. The entry
 * stays when the stack is removed: sites may still be in this data centre, and a new stack writes the entry again.
 */
const registerDataCentre = async ({ RequestType, ResourceProperties }: CloudFormationCustomResourceEvent) => {
  if (RequestType !== 'Delete') await sites.putDataCentre(properties.parse(ResourceProperties))
}

/**
 * Sends the answer to the URL of the event. Throws if this fails: Lambda then repeats the event. Otherwise the
 * deployment would wait an hour for the lost answer.
 */
export const answerDeployment = async (
  url: string,
  answer: CloudFormationCustomResourceResponse,
  timeLimit = 10_000,
): Promise<void> => {
  const { ok, status } = await fetch(url, {
    method: 'PUT',
    // The URL is signed for a request without a content type.
    headers: { 'Content-Type': '' },
    body: JSON.stringify(answer),
    signal: AbortSignal.timeout(timeLimit),
  })
  // The URL is a secret, so the log must not contain it.
  if (!ok) throw new Error(`CloudFormation refused the answer: status ${status}`)
}

export const handler = async (event: CloudFormationCustomResourceEvent, context: Context): Promise<void> => {
  const outcome = await registerDataCentre(event).then(
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
