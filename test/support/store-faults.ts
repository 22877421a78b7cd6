import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'

const failure = (name: string, details: object = {}) =>
  Object.assign(new Error(`${name} of the test`), { name, ...details })

/** The errors of the client after it has given up repeating a call. */
const passingFailures = {
  throttled: () => failure('ProvisionedThroughputExceededException', { $metadata: { httpStatusCode: 400 } }),
  'timed out': () => failure('TimeoutError'),
  'failing with 500': () => failure('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
} as const

type Failure = keyof typeof passingFailures

interface Call {
  readonly name: string
  readonly input: object
}

export type Intervention = <Result extends { readonly output: object }>(
  send: () => Promise<Result>,
  call: Call,
) => Promise<Result>

/** Calls `run` instead of each call of the client, or of each of its attempts. `send` sends the call. */
export const aroundCommands = (
  { middlewareStack }: DynamoDBDocumentClient,
  each: 'call' | 'attempt',
  run: Intervention,
): void => {
  const step = each === 'call' ? 'initialize' : ('deserialize' as 'initialize')
  middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) =>
        run(() => next(args), { name: commandName, input: args.input }),
    { step, priority: 'high' },
  )
}

/** Calls `run` instead of the call with this number, counted from 1. */
export const aroundCall = (dynamodb: DynamoDBDocumentClient, call: number, run: Intervention): void => {
  let made = 0
  aroundCommands(dynamodb, 'call', (send, details) => {
    made += 1
    return made === call ? run(send, details) : send()
  })
}

export const watchCalls = (dynamodb: DynamoDBDocumentClient): string[] => {
  const calls: string[] = []
  aroundCommands(dynamodb, 'call', (send, { name }) => {
    calls.push(name)
    return send()
  })
  return calls
}

interface Fault {
  /** The number of the call that fails, counted from now on, beginning with 0. */
  readonly call: number
  readonly failure: Failure
  /** True if the store carries out the call, so that only the answer is lost. */
  readonly afterwards?: boolean
}

/** Makes one call fail after the client has given up repeating it. */
export const failOnce = (dynamodb: DynamoDBDocumentClient, { call, failure, afterwards = false }: Fault): void =>
  aroundCall(dynamodb, call + 1, async (send) => {
    if (afterwards) await send()
    throw passingFailures[failure]()
  })

export const beforeCalls = (dynamodb: DynamoDBDocumentClient, command: string, run: () => Promise<void>): void =>
  aroundCommands(dynamodb, 'attempt', async (send, { name }) => {
    if (name === command) await run()
    return send()
  })

/** Loses the answer to the first call with this name. `meanwhile` runs before the client repeats the call. */
export const loseAnswer = (
  dynamodb: DynamoDBDocumentClient,
  command: string,
  meanwhile: () => Promise<void> = async () => undefined,
): { lost: number } => {
  const count = { lost: 0 }
  aroundCommands(dynamodb, 'attempt', async (send, { name }) => {
    const result = await send()
    if (name !== command || count.lost > 0) return result
    count.lost += 1
    await meanwhile()
    throw passingFailures['timed out']()
  })
  return count
}

/** Loses the answer to the first call of each name, table and expression, so that the client repeats it. */
export const loseFirstAnswers = (dynamodb: DynamoDBDocumentClient): void => {
  const known = new Set<string>()
  aroundCommands(dynamodb, 'attempt', async (send, { name, input }) => {
    const result = await send()
    const members = ['TableName', 'UpdateExpression', 'ConditionExpression']
    const kind = [name, ...members.map((member) => Reflect.get(input, member))].join()
    if (known.has(kind)) return result
    known.add(kind)
    throw passingFailures['timed out']()
  })
}

/** Loses single answers after the client has given up. `lose` chooses the call, counted from 1. */
export const createLoss = (dynamodb: DynamoDBDocumentClient) => {
  let calls = 0
  let lost = 0
  aroundCommands(dynamodb, 'call', async (send) => {
    calls += 1
    const isLost = calls === lost
    const result = await send()
    if (isLost) throw passingFailures['timed out']()
    return result
  })
  return {
    lose(call: number): void {
      calls = 0
      lost = call
    },
    /** True if the chosen call has not been made yet. */
    isOver: (): boolean => calls < lost,
  }
}
