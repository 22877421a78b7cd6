import type { token as tokenAnswer } from '../../lib/contract/access/answers.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { xmlNames } from '../../lib/contract/xml-names.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { neverStored, ok } from '../../lib/http/reply.ts'
import type { Request } from '../../lib/http/request.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'

/** Without an error, the sign-in succeeded. */
export const logSignIn = ({ edge }: AccessDeps, { address }: Request, name: string | null, error?: unknown): void => {
  const isTooMany = error instanceof ServiceError && error.status === 429
  const outcome = error === undefined ? 'signed in' : isTooMany ? 'too many' : 'refused'
  edge.telemetry.signIn?.({ name, address: address ?? null, outcome })
}

/** Logs the outcome of a sign-in. `known` is the name in the log if the sign-in fails. */
export const logged = async <Signed extends { readonly name: string }>(
  deps: AccessDeps,
  request: Request,
  known: string | null,
  signIn: Promise<Signed>,
): Promise<Signed> => {
  try {
    const signed = await signIn
    logSignIn(deps, request, signed.name)
    return signed
  } catch (error) {
    logSignIn(deps, request, known, error)
    throw error
  }
}

export const tokenReply = (token: string) =>
  ok<Answer<typeof tokenAnswer>>({ token }, { xml: xmlNames.token, headers: neverStored })
