import type { token as tokenAnswer } from '../../lib/contract/access/answers.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { xmlNames } from '../../lib/contract/xml-names.ts'
import { neverStored, ok } from '../../lib/http/reply.ts'

export const tokenReply = (token: string) => {
  return ok<Answer<typeof tokenAnswer>>({ token }, { xml: xmlNames.token, headers: neverStored })
}
