import { RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { Construct } from 'constructs'
import { onEdge, type Settings } from '../config/settings.ts'
import { certificateOf, zoneOf } from '../constructs/domain.ts'
import { createFirewall } from '../constructs/firewall.ts'
import type { Edge } from '../constructs/streaming.ts'

/** Certificates and firewalls of distributions. CloudFront reads them from one region only. */
export class EdgeStack extends Stack {
  readonly edges: Readonly<Record<string, Edge>>

  constructor(scope: Construct, stackId: string, { settings, ...props }: StackProps & { readonly settings: Settings }) {
    super(scope, stackId, props)
    const edges = onEdge(settings).map(([id, { customDomain }]): [string, Edge] => {
      const parts = new Construct(this, id)
      const certificate =
        customDomain && !customDomain.certificateArn && certificateOf(parts, customDomain, zoneOf(parts, customDomain))
      // The distribution uses it until its own stack is deployed, after this one.
      if (certificate) certificate.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
      const firewall =
        settings.webApplicationFirewall && createFirewall(parts, 'CLOUDFRONT', `${settings.prefix}-${id}`)
      return [id, { ...(certificate && { certificate }), ...(firewall && { webAclArn: firewall.attrArn }) }]
    })
    this.edges = Object.fromEntries(edges)
  }
}
