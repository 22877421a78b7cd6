import { CloudFormation, type CloudFormationClientConfig } from '@aws-sdk/client-cloudformation'
import { failLikePort, smallCallTimeouts } from './calls/client-calls.ts'

/**
 * Reads the outputs of a stack in the given region, or in the region of the environment. Errors: unavailable, those of
 * AWS.
 */
export const readStackOutputs = async (stack: string, wanted?: string, config: CloudFormationClientConfig = {}) => {
  const options = { requestHandler: smallCallTimeouts, ...(wanted !== undefined && { region: wanted }) }
  const client = failLikePort(new CloudFormation({ ...options, ...config }))
  const region = await client.config.region().catch(() => undefined)
  try {
    if (region === undefined) return { region, outputs: undefined }
    const { Stacks: [found] = [] } = await client.describeStacks({ StackName: stack })
    const outputs = found?.Outputs ?? []
    return { region, outputs: new Map(outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue])) }
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ValidationError')) throw error
    return { region, outputs: undefined }
  }
}
