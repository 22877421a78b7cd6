import type { token as tokenAnswer } from '../../lib/contract/access/answers.ts'
import { accessXml } from '../../lib/contract/access/xml-names.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { neverStored, ok } from '../../lib/http/reply.ts'

export const tokenReply = (token: string) => {
  const value: Answer<typeof tokenAnswer> = { token }
  return { ...ok({ value, xml: accessXml.token }), headers: neverStored }
}
