import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'

const failure = (name: string, details: object = {}) =>
  Object.assign(new Error(`${name} of the test`), { name, ...details })

/** What the store's client fails with, once it has given up repeating the call itself. */
export const passingFailures = {
  throttled: () => failure('ProvisionedThroughputExceededException', { $metadata: { httpStatusCode: 400 } }),
  'timed out': () => failure('TimeoutError'),
  'failing with 500': () => failure('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
} as const

export type Failure = keyof typeof passingFailures

/** Notes the name of every call that is made with the client. */
export const watchCalls = (dynamodb: DynamoDBDocumentClient): string[] => {
  const calls: string[] = []
  dynamodb.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        calls.push(commandName)
        return next(args)
      },
    { step: 'initialize', priority: 'high', name: 'watch' },
  )
  return calls
}

interface Fault {
  /** Which call fails: its position among those that are made from now on, beginning with 0. */
  readonly call: number
  readonly failure: Failure
  /** Whether the store does what it was asked to, and only its answer is lost. */
  readonly afterwards?: boolean
}

/** Makes one call of the client fail, in a way in which the client does not repeat it any more. */
export const failOnce = (dynamodb: DynamoDBDocumentClient, { call, failure, afterwards = false }: Fault): void => {
  let made = 0
  dynamodb.middlewareStack.add(
    (next) => async (args) => {
      const fails = made++ === call
      if (fails && !afterwards) throw passingFailures[failure]()
      const result = await next(args)
      if (fails) throw passingFailures[failure]()
      return result
    },
    { step: 'initialize', priority: 'high', name: 'fault' },
  )
}

/**
 * Loses the answer to the first call of that name on its way back. The client does not know and repeats the call, as it
 * does. `meanwhile` happens before that.
 */
export const loseAnswer = (
  dynamodb: DynamoDBDocumentClient,
  command: string,
  meanwhile: () => Promise<void> = async () => undefined,
): { lost: number } => {
  const count = { lost: 0 }
  dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args)
        if (commandName !== command || count.lost > 0) return result
        count.lost += 1
        await meanwhile()
        throw passingFailures['timed out']()
      },
    { step: 'deserialize', priority: 'high', name: 'lose' },
  )
  return count
}

/**
 * Loses the answer to the first call of each kind on its way back: of that name, to that table, with those expressions.
 * The client repeats the call, as it does; it would not do so for long if every answer were lost.
 */
export const loseFirstAnswers = (dynamodb: DynamoDBDocumentClient): void => {
  const known = new Set<string>()
  dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args)
        const members = ['TableName', 'UpdateExpression', 'ConditionExpression']
        const kind = [commandName, ...members.map((member) => Reflect.get(args.input, member))].join()
        if (known.has(kind)) return result
        known.add(kind)
        throw passingFailures['timed out']()
      },
    { step: 'deserialize', priority: 'high', name: 'lose' },
  )
}

/** Loses single answers after the client has given up: `lose` names the next one, counted from 1 from then on. */
export const createLoss = (dynamodb: DynamoDBDocumentClient) => {
  let calls = 0
  let lost = 0
  dynamodb.middlewareStack.add(
    (next) => async (args) => {
      calls += 1
      const isLost = calls === lost
      const result = await next(args)
      if (isLost) throw passingFailures['timed out']()
      return result
    },
    { step: 'initialize', priority: 'high', name: 'loss' },
  )
  return {
    lose(call: number): void {
      calls = 0
      lost = call
    },
    /** Fewer calls than that have been made since. */
    isOver: (): boolean => calls < lost,
  }
}
