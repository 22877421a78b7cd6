import { type FunctionName, functionSettings } from '../../../cdk/config/functions.ts'
import { type CloudRequest, s3OperationOf } from '../../../test/support/cloud-requests.ts'
import type { Table } from './figures.ts'
import type { Consumed } from './meter.ts'

/** AWS list prices in us-east-1 without free tier, in US dollars per million requests, units or seconds. */
export const prices = {
  // A REST API.
  gatewayRequest: 3.5,
  functionRequest: 0.2,
  // Lambda on arm64.
  gigabyteSecond: 13.3334,
  // DynamoDB on demand. A write to the directory has this price in every region with a replica.
  readUnit: 0.125,
  writeUnit: 0.625,
  // S3: PUT, COPY, POST (batch deletion) and LIST. Single deletions are free.
  s3Write: 5,
  /** S3: GET and HEAD. */
  s3Read: 0.4,
  /** SQS, standard queue. */
  queueRequest: 0.4,
  /** The gateway and the function each write one line to a log: together about 1 KB, at 0.50 per GB. */
  logs: 0.5,
  /**
   * In seconds: the time of a warm function for a request, with the stores. This is an assumption, because the time
   * depends on the stored data.
   */
  assumedSeconds: 0.02,
  /** The same assumption for a function that works with files. */
  assumedSecondsWithFiles: 0.1,
} as const

export const dollars = (value: number): string => value.toFixed(2)

/** In dollars: a million requests with these capacity units each. */
export const tableCosts = ({ readUnits, writeUnits }: Consumed): number =>
  readUnits * prices.readUnit + writeUnits * prices.writeUnit

/** In dollars: a million requests, without the stores: gateway, logs and function. */
export const requestCosts = (name: FunctionName, seconds: number): number => {
  const computing = prices.gigabyteSecond * (functionSettings[name].memorySize / 1024) * seconds
  return prices.gatewayRequest + prices.functionRequest + computing + prices.logs
}

/** The cost of one upload, by its requests to the service and to the stores. */
export const uploadCosts = (
  title: string,
  requests: number,
  seconds: number,
  consumed: Consumed,
  files: Counted,
): Table => {
  const calls = requests * requestCosts('storage', seconds)
  const stores = tableCosts(consumed) + fileCosts(files)
  const inDollars = (millions: number) => (millions / 1e6).toFixed(8)
  return {
    title,
    columns: [
      'requests',
      'read units',
      'write units',
      'S3 writes',
      'S3 reads',
      'gateway and function',
      'stores',
      'in all',
    ],
    rows: [
      [
        requests,
        consumed.readUnits,
        consumed.writeUnits,
        files.writes,
        files.reads,
        inDollars(calls),
        inDollars(stores),
        inDollars(calls + stores),
      ],
    ],
  }
}

export const countRequests = (requests: readonly CloudRequest[]) => {
  const classes = requests.map((request) => s3OperationOf(request)?.charged)
  return {
    writes: classes.filter((charged) => charged === 'write').length,
    reads: classes.filter((charged) => charged === 'read').length,
    queue: requests.filter(({ target }) => target?.startsWith('AmazonSQS.')).length,
  }
}

type Counted = ReturnType<typeof countRequests>

/** In dollars: a million requests with these calls each. */
export const fileCosts = ({ writes, reads, queue }: Counted): number =>
  writes * prices.s3Write + reads * prices.s3Read + queue * prices.queueRequest
