import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { GetAccountSettingsCommand, LambdaClient, LambdaServiceException } from '@aws-sdk/client-lambda'
import * as z from 'zod'
import { streaming } from '../../lib/config/functions.ts'
import { byFunction } from './functions.ts'
import type { Settings } from './settings.ts'

// In seconds: the time of a typical long request, such as one for a small file.
const usualRequest = 0.1

const reservedIn = ({ reservedConcurrency, webhooks }: Settings): number =>
  Object.values(byFunction(webhooks, (name) => reservedConcurrency[name] ?? 0)).reduce((sum, count) => sum + count, 0)

// Lambda refuses a reservation that leaves the other functions of the account less than this.
const leastUnreserved = 100

/**
 * The concurrent executions that each region needs for its reservations, and for the throttling limits of its gateways.
 */
export const wantedConcurrency = (settings: Settings): ReadonlyMap<string, number> => {
  const inEach = Map.groupBy(Object.values(settings.dataCentres), ({ region }) => region)
  const [reserved, busy] = [reservedIn(settings), Math.ceil(settings.throttling.rate * usualRequest)]
  const wanted = (count: number) => count * reserved + Math.max(count * busy, reserved > 0 ? leastUnreserved : 0)
  return new Map([...inEach].map(([region, { length }]) => [region, wanted(length)]))
}

const quota = { code: 'L-B99A9384', usual: 1000 }

const judge = (region: string, wanted: number, available: number) => {
  const limit = `${region}: ${available} functions can run at once, and the settings need ${wanted}`
  const isEnough = available >= wanted
  const request =
    `aws service-quotas request-service-quota-increase --region ${region} --service-code lambda ` +
    `--quota-code ${quota.code} --desired-value ${Math.max(quota.usual, wanted)}`
  const lacking = `${limit}. A burst of requests would get 503.\nAsk AWS for more (free of charge; it may take days):\n  ${request}`
  return { isEnough, message: isEnough ? `${limit}: enough.` : lacking }
}

// AWS supports this call, but emulators do not.
const isUnsupportedCall = (error: unknown): boolean =>
  error instanceof LambdaServiceException && [404, 501].includes(error.$metadata.httpStatusCode ?? 0)

/** An earlier run of this deployment may have made these reservations. They count as available. */
export const checkConcurrency = async (region: string, wanted: number, settings: Settings) => {
  const client = new LambdaClient({
    region,
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  })
  try {
    const { AccountLimit } = await client.send(new GetAccountSettingsCommand({}))
    const all = AccountLimit?.ConcurrentExecutions
    const available = reservedIn(settings) > 0 ? all : AccountLimit?.UnreservedConcurrentExecutions
    if (available !== undefined) return judge(region, wanted, available)
  } catch (error) {
    if (!isUnsupportedCall(error)) throw error
  }
  const message = `${region}: NOT CHECKED. This endpoint does not report how many functions can run at once. AWS does.`
  return { isEnough: true, message }
}

// Rounds up to a rate that Lambda offers: multiples of 100 up to 1,000, then multiples of 1,000 up to 10,000.
const offeredRate = (rate: number): number => {
  const step = rate <= 1_000 ? 100 : 1_000
  return Math.min(10_000, Math.ceil(rate / step) * step)
}

export const endpointLimits = ({ rate, burst }: Settings['throttling']) => ({
  maxEnvironments: Math.max(2, Math.ceil(burst / streaming.requestsAtOnce)),
  rateLimit: offeredRate(rate),
})

const quotas = z.object({ accountQuotas: z.object({ maxTotalArmVCpus: z.number(), maxTotalRateLimit: z.number() }) })

// Each execution environment needs one processor. The SDK has no client for these quotas yet.
const readQuotas = async (region: string) => {
  const command = ['lambda-web', 'get-web-account-settings', '--region', region, '--output', 'json']
  const { stdout } = await promisify(execFile)('aws', command, { timeout: 20_000 })
  return quotas.parse(JSON.parse(stdout)).accountQuotas
}

export const checkWebFunctions = ({ dataCentres, throttling }: Settings) => {
  const streams = Object.values(dataCentres).filter((dataCentre) => dataCentre.streaming)
  const { maxEnvironments, rateLimit } = endpointLimits(throttling)
  const regions = [...Map.groupBy(streams, ({ region }) => region)]
  return Promise.all(
    regions.map(async ([region, { length }]) => {
      const [processors, rate] = [length * maxEnvironments, length * rateLimit]
      const needed = `the settings need ${processors} and ${rate}`
      const found = await readQuotas(region).catch(() => undefined)
      if (!found) {
        const ask = `aws lambda-web get-web-account-settings --region ${region}`
        const message = `${region}: NOT CHECKED. Compare maxTotalArmVCpus and maxTotalRateLimit in the answer of "${ask}": ${needed}.`
        return { isEnough: true, message }
      }
      const isEnough = found.maxTotalArmVCpus >= processors && found.maxTotalRateLimit >= rate
      const limit =
        `${region}: Web Functions can use ${found.maxTotalArmVCpus} processors and ${found.maxTotalRateLimit} requests ` +
        `per second, and ${needed}`
      const lacking = `${limit}. A burst would be refused.\nAsk AWS for more in Service Quotas (AWS Lambda), or lower "throttling".`
      return { isEnough, message: isEnough ? `${limit}: enough.` : lacking }
    }),
  )
}
