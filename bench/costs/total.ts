import { type FunctionName, functionSettings } from '../../cdk/functions.ts'
import type { Consumed } from '../meter.ts'
import { prices } from './prices.ts'

export const dollars = (value: number): string => value.toFixed(2)

/** What a million requests cost that consume these units of the tables. */
export const tableCosts = ({ readUnits, writeUnits }: Consumed): number =>
  readUnits * prices.readUnit + writeUnits * prices.writeUnit

/** What a million requests cost before any store is asked: gateway, logs, and the function for so many seconds. */
export const requestCosts = (name: FunctionName, seconds: number): number => {
  const computing = prices.gigabyteSecond * (functionSettings[name].memorySize / 1024) * seconds
  return prices.gatewayRequest + prices.functionRequest + computing + prices.logs
}
