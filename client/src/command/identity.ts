import { hostOf } from '../addresses.ts'
import { answerOf, failureOf, ServiceError } from '../service-error.ts'
import { UsageError } from './failure.ts'

export const identities = ['github'] as const
export type Identity = (typeof identities)[number]

// In milliseconds, for a whole answer.
const patience = 30_000

const send = async (url: string, init: RequestInit, signal: AbortSignal): Promise<Response> => {
  try {
    return await fetch(url, {
      ...init,
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
    })
  } catch (error) {
    signal.throwIfAborted()
    const message = `${hostOf(url)} did not answer. Check the address and the network, then repeat.`
    throw new ServiceError({ status: 0, code: 0, message }, { cause: error })
  }
}

/** Asks GitHub for a token of this job. The audience of the token is the service. */
const tokenOfJob = async (audience: string, signal: AbortSignal): Promise<string> => {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token } = process.env
  if (!address || !token || !URL.canParse(address)) {
    throw new UsageError(
      'This is not a job of GitHub Actions, or the job may not request its identity. Add "permissions: id-token: ' +
        'write" to the workflow.',
    )
  }
  const url = new URL(address)
  url.searchParams.set('audience', audience)
  const response = await send(url.href, { headers: { authorization: `Bearer ${token}` } }, signal)
  if (!response.ok) {
    const { status } = response
    const message = `GitHub gave no token for this job: ${url.host} answered with status ${status}. Repeat the job.`
    throw new ServiceError({ status: 0, code: 0, message })
  }
  const { value } = await answerOf<{ value: string }>(({ value }) => typeof value === 'string', response, url.host)
  return value
}

/** exchanges the token of the job for a token of the service. Errors: UsageError, ServiceError. */
export const exchangeIdentity = async (
  { url, site }: { readonly url: string; readonly site?: number | undefined },
  signal: AbortSignal,
): Promise<string> => {
  const base = url.replace(/\/+$/, '')
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: await tokenOfJob(base, signal),
    ...(site !== undefined && { resource: String(site) }),
  })
  const response = await send(`${base}/api/v2/admin/tokens`, { method: 'POST', body }, signal)
  if (!response.ok) throw await failureOf(response, hostOf(base))
  const answered = await answerOf<{ access_token: string }>(
    ({ access_token: token }) => typeof token === 'string',
    response,
    hostOf(base),
  )
  return answered.access_token
}
