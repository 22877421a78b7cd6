import { type FunctionName, functionSettings } from '../../../cdk/config/functions.ts'
import { type CloudRequest, s3OperationOf } from '../../../test/support/cloud-requests.ts'
import type { Consumed } from './meter.ts'

/** AWS list prices in us-east-1 without free tier, in US dollars per million requests, units or seconds. */
export const prices = {
  // REST API.
  gatewayRequest: 3.5,
  functionRequest: 0.2,
  // Lambda on arm64.
  gigabyteSecond: 13.3334,
  // DynamoDB on demand. A write to the directory costs this in every region with a replica.
  readUnit: 0.125,
  writeUnit: 0.625,
  // S3: PUT, COPY, POST (batch deletion) and LIST. Single deletions are free.
  s3Write: 5,
  /** S3: GET and HEAD. */
  s3Read: 0.4,
  /** SQS, standard queue. */
  queueRequest: 0.4,
  /** A line of the gateway's log and one of the function's: about 1 KB at 0.50 for a GB. */
  logs: 0.5,
  /**
   * What a warm function takes for a request, store included, in seconds. An assumption: it depends on what is stored.
   */
  assumedSeconds: 0.02,
  /** The same for one that works on files. */
  assumedSecondsWithFiles: 0.1,
} as const

export const dollars = (value: number): string => value.toFixed(2)

/** What a million requests cost that consume these units of the tables. */
export const tableCosts = ({ readUnits, writeUnits }: Consumed): number =>
  readUnits * prices.readUnit + writeUnits * prices.writeUnit

/** What a million requests cost before any store is asked: gateway, logs, and the function for so many seconds. */
export const requestCosts = (name: FunctionName, seconds: number): number => {
  const computing = prices.gigabyteSecond * (functionSettings[name].memorySize / 1024) * seconds
  return prices.gatewayRequest + prices.functionRequest + computing + prices.logs
}

/** How often the services are asked that charge by the request. */
export const countRequests = (requests: readonly CloudRequest[]) => {
  const classes = requests.map((request) => s3OperationOf(request)?.charged)
  return {
    writes: classes.filter((charged) => charged === 'write').length,
    reads: classes.filter((charged) => charged === 'read').length,
    queue: requests.filter(({ target }) => target?.startsWith('AmazonSQS.')).length,
  }
}

/** What a million requests cost that ask these services so often. */
export const fileCosts = ({ writes, reads, queue }: ReturnType<typeof countRequests>): number =>
  writes * prices.s3Write + reads * prices.s3Read + queue * prices.queueRequest
