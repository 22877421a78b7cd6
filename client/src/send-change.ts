import type { Call } from './call.ts'
import type { Send } from './transport.ts'

/**
 * If an earlier attempt made the change and its answer was lost, the failure of a repetition counts as success. Then the
 * answer is empty.
 */
export const sendChange = async (
  send: Send,
  call: Omit<Call, 'onUncertain'>,
  isApplied: (error: unknown) => Promise<boolean> | boolean,
  mayBeApplied = false,
): Promise<Response> => {
  let isUncertain = mayBeApplied
  const onUncertain = () => {
    isUncertain = true
  }
  try {
    return await send({ ...call, onUncertain })
  } catch (error) {
    if (isUncertain && (await isApplied(error))) return new Response()
    throw error
  }
}
