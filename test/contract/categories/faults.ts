import { BatchGetCommand, BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { ServiceError } from '../../../lib/core/errors.ts'

/** The error of a call that may succeed when it is repeated. */
const unavailable = () => new ServiceError('unavailable')

/** Replaces a call. An intervention can make the call, change the answer, or do something else first. */
type Intervention = (proceed: () => Promise<unknown>, command: unknown) => Promise<unknown>

/** A real client. Each of its calls passes through `intervene`. */
export const intercept = (
  client: DynamoDBDocumentClient,
  intervene: (call: number, ...rest: Parameters<Intervention>) => Promise<unknown>,
): DynamoDBDocumentClient => {
  let calls = 0
  return new Proxy(client, {
    get(target, name, receiver) {
      if (name !== 'send') return Reflect.get(target, name, receiver)
      return (command: Parameters<DynamoDBDocumentClient['send']>[0]) => {
        calls += 1
        return intervene(calls, () => target.send(command), command)
      }
    },
  })
}

/** Intervenes at one call, and counts the calls. */
export const interceptOnce = (client: DynamoDBDocumentClient, at: number, intervention: Intervention) => {
  let calls = 0
  const intercepted = intercept(client, (call, proceed, command) => {
    calls = call
    return call === at ? intervention(proceed, command) : proceed()
  })
  return { client: intercepted, calls: () => calls }
}

/** The number of calls of an operation. */
export const countCalls = async (client: DynamoDBDocumentClient, run: (over: DynamoDBDocumentClient) => unknown) => {
  const { client: counted, calls } = interceptOnce(client, 0, (proceed) => proceed())
  await run(counted)
  return calls()
}

const half = <Value>(values: readonly Value[]): [Value[], Value[]] => {
  const middle = Math.ceil(values.length / 2)
  return [values.slice(0, middle), values.slice(middle)]
}

/** The faults of a store, by name. */
export const faults: Readonly<Record<string, Intervention>> = {
  'carries out nothing': async (proceed, command) => {
    if (command instanceof BatchGetCommand) return { Responses: {}, UnprocessedKeys: command.input.RequestItems }
    if (command instanceof BatchWriteCommand) return { UnprocessedItems: command.input.RequestItems }
    return proceed()
  },
  'carries out only half': async (proceed, command) => {
    if (command instanceof BatchWriteCommand) {
      const [[table = '', requests = []] = []] = Object.entries(command.input.RequestItems ?? {})
      const [now, later] = half(requests)
      command.input.RequestItems = { [table]: now }
      await proceed()
      return { UnprocessedItems: later.length > 0 ? { [table]: later } : {} }
    }
    if (command instanceof BatchGetCommand) {
      const [[table = '', request] = []] = Object.entries(command.input.RequestItems ?? {})
      const [now, later] = half(request?.Keys ?? [])
      command.input.RequestItems = { [table]: { ...request, Keys: now } }
      const answer = await proceed()
      // The store names unprocessed items only by their keys, as dynalite does.
      return { ...(answer as object), UnprocessedKeys: later.length > 0 ? { [table]: { Keys: later } } : {} }
    }
    return proceed()
  },
  'is throttled or does not answer': async () => {
    throw unavailable()
  },
  'succeeds but its answer is lost': async (proceed) => {
    await proceed()
    throw unavailable()
  },
}
