import { Stack, type StackProps } from 'aws-cdk-lib'
import type { ICertificate } from 'aws-cdk-lib/aws-certificatemanager'
import { Construct } from 'constructs'
import { certificateOf, zoneOf } from './constructs/domain.ts'
import { createFirewall } from './constructs/firewall.ts'
import type { DataCentreSettings, Settings } from './settings.ts'

/** What the distribution of a data centre takes from there. */
export interface Edge {
  readonly certificate?: ICertificate
  readonly webAclArn?: string
}

/** The data centres whose distributions take anything from there. */
export const onEdge = ({ dataCentres, webApplicationFirewall }: Settings): readonly [string, DataCentreSettings][] =>
  Object.entries(dataCentres).filter(
    ([, { streaming, customDomain }]) => streaming && (customDomain !== undefined || webApplicationFirewall),
  )

/** Certificates and firewalls of distributions, wherever their data centres are: CloudFront takes them from one region alone. */
export class EdgeStack extends Stack {
  readonly edges: Readonly<Record<string, Edge>>

  constructor(scope: Construct, stackId: string, { settings, ...props }: StackProps & { readonly settings: Settings }) {
    super(scope, stackId, props)
    const edges = onEdge(settings).map(([id, { customDomain }]): [string, Edge] => {
      const parts = new Construct(this, id)
      const certificate = customDomain && certificateOf(parts, customDomain, zoneOf(parts, customDomain))
      const firewall =
        settings.webApplicationFirewall && createFirewall(parts, 'Firewall', 'CLOUDFRONT', `${settings.prefix}-${id}`)
      return [id, { ...(certificate && { certificate }), ...(firewall && { webAclArn: firewall.attrArn }) }]
    })
    this.edges = Object.fromEntries(edges)
  }
}
