import { GetAccountSettingsCommand, LambdaClient, LambdaServiceException } from '@aws-sdk/client-lambda'
import type { Settings } from './settings.ts'

// Seconds of a typical long request, a small file.
const usualRequest = 0.1

/** The concurrent executions that each region needs for the throttling limits of its gateways. */
export const wantedConcurrency = ({ dataCentres, throttling }: Settings): ReadonlyMap<string, number> => {
  const inEach = Map.groupBy(Object.values(dataCentres), ({ region }) => region)
  const wanted = Math.ceil(throttling.rate * usualRequest)
  return new Map([...inEach].map(([region, { length }]) => [region, length * wanted]))
}

const quota = { code: 'L-B99A9384', usual: 1000 }

const judge = (region: string, wanted: number, unreserved: number) => {
  const limit = `${region}: ${unreserved} functions can run at once, and the settings need ${wanted}`
  if (unreserved >= wanted) return { isEnough: true, message: `${limit}: enough.` }
  const request =
    `aws service-quotas request-service-quota-increase --region ${region} --service-code lambda ` +
    `--quota-code ${quota.code} --desired-value ${Math.max(quota.usual, wanted)}`
  const message =
    `${limit}. A burst of requests would get 503.\n` +
    `Ask AWS for more (free of charge; it may take days):\n  ${request}`
  return { isEnough: false, message }
}

// Emulators do not support this call; AWS does.
const isUnknownQuestion = (error: unknown): boolean =>
  error instanceof LambdaServiceException && [404, 501].includes(error.$metadata.httpStatusCode ?? 0)

export const checkConcurrency = async (region: string, wanted: number) => {
  const client = new LambdaClient({
    region,
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  })
  try {
    const { AccountLimit } = await client.send(new GetAccountSettingsCommand({}))
    const unreserved = AccountLimit?.UnreservedConcurrentExecutions
    if (unreserved !== undefined) return judge(region, wanted, unreserved)
  } catch (error) {
    if (!isUnknownQuestion(error)) throw error
  } finally {
    client.destroy()
  }
  const message = `${region}: NOT CHECKED. This endpoint does not report how many functions can run at once. AWS does.`
  return { isEnough: true, message }
}
