import { GetParameterCommand, ParameterNotFound, SSMClient, type SSMClientConfig } from '@aws-sdk/client-ssm'
import { failLikePort, smallCallTimeouts } from './calls/client-calls.ts'

/** The text of a parameter of Systems Manager; undefined if there is none. Errors: unavailable. */
export const readParameter = async (name: string, config: SSMClientConfig = {}): Promise<string | undefined> => {
  const client = failLikePort(new SSMClient({ maxAttempts: 3, requestHandler: smallCallTimeouts, ...config }))
  try {
    return (await client.send(new GetParameterCommand({ Name: name, WithDecryption: true }))).Parameter?.Value
  } catch (error) {
    if (error instanceof ParameterNotFound) return undefined
    throw error
  }
}
