import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js'
import { listenHere } from './token-issuer.ts'

export interface Account {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean | string
  readonly name?: string
  readonly groups?: readonly string[]
}

/** An OpenID Connect provider for one public client. Every visitor is signed in as `next`, without a page. */
export const startIdentityProvider = async (id: string, callback: string) => {
  let next: Account = { sub: 'nobody' }
  const accounts = new Map<string, Account>()
  let answer: ReturnType<Provider['callback']> = async () => {}
  const { url, close } = await listenHere((request, response) => void answer(request, response))
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(url, {
    clients: [{ client_id: id, redirect_uris: [callback], token_endpoint_auth_method: 'none' }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS256', use: 'sig' }] },
    adapter: createMemoryAdapter(0),
    cookies: { keys: ['secret of the tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    features: { devInteractions: { enabled: false } },
    ttl: { AccessToken: 300, AuthorizationCode: 60, Grant: 300, IdToken: 300, Interaction: 300, Session: 300 },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ ...accounts.get(sub), sub }) }),
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ accountId: oidc.session?.accountId ?? '', clientId: id })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  const serve = provider.callback()
  answer = async (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return serve(request, response)
    return provider.interactionFinished(request, response, { login: { accountId: next.sub } })
  }
  return {
    url,
    close,
    signInAs(account: Account) {
      next = account
      accounts.set(account.sub, account)
    },
  }
}

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>
