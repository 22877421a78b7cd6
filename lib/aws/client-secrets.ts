import { readClientSecrets } from '../config/client-secrets.ts'
import { cachedLookup } from '../core/cached-lookup.ts'
import { systemClock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { failLikePort, smallCallTimeouts } from './calls/client-calls.ts'

// In milliseconds: a new secret takes effect after this time.
const rememberedFor = 300_000

const readParameter = async (name: string): Promise<ReadonlyMap<string, string>> => {
  const { GetParameterCommand, ParameterNotFound, SSMClient } = await import('@aws-sdk/client-ssm')
  const client = new SSMClient({ maxAttempts: 3, requestHandler: smallCallTimeouts })
  failLikePort(client)
  try {
    const { Parameter } = await client.send(new GetParameterCommand({ Name: name, WithDecryption: true }))
    return readClientSecrets(Parameter?.Value ?? '')
  } catch (error) {
    if (error instanceof ParameterNotFound) return new Map()
    if (error instanceof ServiceError) throw error
    throw new Error(`The parameter ${name} ${error instanceof Error ? error.message : ''}`)
  }
}

/** the client secrets of issuers from a parameter of Systems Manager, read when they are first needed. */
export const createClientSecrets = (name: string | undefined) => {
  const read = cachedLookup<string, ReadonlyMap<string, string>>(readParameter, {
    ttl: rememberedFor,
    max: 1,
    now: systemClock.monotonic,
  })
  return async (issuer: string): Promise<string | undefined> =>
    name === undefined ? undefined : (await read(name))?.get(issuer)
}
