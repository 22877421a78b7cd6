import { GetAccountSettingsCommand, LambdaClient, LambdaServiceException } from '@aws-sdk/client-lambda'
import type { Settings } from './settings.ts'

/** What the account lets functions of a region do, against what is wanted there. */
export interface Finding {
  readonly isEnough: boolean
  /** For a person, with what to do. */
  readonly message: string
}

/** What a request keeps a function busy for, in seconds: that of a small file, the longest of the usual ones. */
const usualRequest = 0.1

/** How many functions at once each region needs so that the gateways of its data centres can let through what they may. */
export const wantedConcurrency = ({ dataCentres, throttling }: Settings): ReadonlyMap<string, number> => {
  const wanted = new Map<string, number>()
  for (const { region } of Object.values(dataCentres)) {
    wanted.set(region, (wanted.get(region) ?? 0) + Math.ceil(throttling.rate * usualRequest))
  }
  return wanted
}

/** The code under which AWS knows the limit, and what it grants without questions. */
const quota = { code: 'L-B99A9384', usual: 1000 }

const judge = (region: string, wanted: number, unreserved: number): Finding => {
  const limit = `${region}: ${unreserved} functions may run at once, ${wanted} are wanted`
  if (unreserved >= wanted) return { isEnough: true, message: `${limit}: enough.` }
  const request = `aws service-quotas request-service-quota-increase --region ${region} --service-code lambda --quota-code ${quota.code} --desired-value ${Math.max(quota.usual, wanted)}`
  return {
    isEnough: false,
    message: `${limit}. A burst of requests would be turned away with 503.\nAsk AWS for more (it costs nothing, and may take days):\n  ${request}`,
  }
}

/** Whether what answers there is no AWS: that knows the question. */
const isUnknownQuestion = (error: unknown): boolean =>
  error instanceof LambdaServiceException && [404, 501].includes(error.$metadata.httpStatusCode ?? 0)

/** Asks for the limit of the region and answers whether it is enough. Errors: those of AWS, as of missing credentials. */
export const checkConcurrency = async (region: string, wanted: number): Promise<Finding> => {
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
  const message = `${region}: NOT CHECKED. What answers here does not say how many functions may run at once; AWS does.`
  return { isEnough: true, message }
}
