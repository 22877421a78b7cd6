import type { IssuerClient } from '../../lib/access/issuers/issuer-client.ts'
import { onDemand } from '../../lib/core/on-demand.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'

export interface IssuerDeps extends AccessDeps {
  readonly openIssuerClient: () => Promise<IssuerClient>
}

/**
 * This is not in `lib/service`, because every bundle that imports `lib/service` would then contain the code that this
 * file loads on demand.
 */
export const withIssuerClient = (deps: AccessDeps): IssuerDeps => ({
  ...deps,
  openIssuerClient: onDemand(async () =>
    (await import('../../lib/access/issuers/issuer-client.ts')).createIssuerClient(deps),
  ),
})
