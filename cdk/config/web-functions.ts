import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as z from 'zod'
import { streaming } from '../../lib/config/streaming.ts'
import type { Settings } from './settings.ts'

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

/** Compares the quotas of Web Functions with the throttling of the data centres, in each region with streaming. */
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
