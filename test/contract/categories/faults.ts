import type { BatchGetCommandInput, BatchWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { ServiceError } from '../../../lib/core/errors.ts'
import type { Intervention } from '../../support/store-faults.ts'

/** The error of a call that may succeed when it is repeated. */
const unavailable = () => new ServiceError('unavailable')

/** An answer in place of the answer of the store. */
export const answering = (output: object) => ({ output, response: undefined }) as never

const half = <Value>(values: readonly Value[]): [Value[], Value[]] => {
  const middle = Math.ceil(values.length / 2)
  return [values.slice(0, middle), values.slice(middle)]
}

/** The faults of a store, by name. */
export const faults = {
  async 'carries out nothing'(send, { name, input }) {
    const { RequestItems } = input as BatchGetCommandInput
    if (name === 'BatchGetItemCommand') return answering({ Responses: {}, UnprocessedKeys: RequestItems })
    if (name === 'BatchWriteItemCommand') return answering({ UnprocessedItems: RequestItems })
    return send()
  },
  async 'carries out only half'(send, { name, input }) {
    if (name === 'BatchWriteItemCommand') {
      const [[table = '', requests = []] = []] = Object.entries((input as BatchWriteCommandInput).RequestItems ?? {})
      const [now, later] = half(requests)
      Object.assign(input, { RequestItems: { [table]: now } })
      await send()
      return answering({ UnprocessedItems: later.length > 0 ? { [table]: later } : {} })
    }
    if (name === 'BatchGetItemCommand') {
      const [[table = '', request] = []] = Object.entries((input as BatchGetCommandInput).RequestItems ?? {})
      const [now, later] = half(request?.Keys ?? [])
      Object.assign(input, { RequestItems: { [table]: { ...request, Keys: now } } })
      const { output } = await send()
      // The store names unprocessed items only by their keys, as dynalite does.
      return answering({ ...output, UnprocessedKeys: later.length > 0 ? { [table]: { Keys: later } } : {} })
    }
    return send()
  },
  async 'is throttled or does not answer'() {
    throw unavailable()
  },
  async 'succeeds but its answer is lost'(send) {
    await send()
    throw unavailable()
  },
} as const satisfies Readonly<Record<string, Intervention>>
