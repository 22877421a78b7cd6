import { CfnDeletionPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { CfnCertificate, type ICertificate } from 'aws-cdk-lib/aws-certificatemanager'
import { Construct } from 'constructs'
import { makesCertificate, onEdge, type Settings } from '../config/settings.ts'
import { certificateOf, zoneOf } from '../constructs/domain.ts'
import { createFirewall } from '../constructs/firewall.ts'
import type { Edge } from '../constructs/streaming.ts'

// When another certificate takes its place, the distribution has it until its own stack is deployed.
const keepReplaced = (certificate: ICertificate): void => {
  const resource = certificate.node.defaultChild
  if (!CfnCertificate.isCfnCertificate(resource)) return
  resource.cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN
  resource.cfnOptions.deletionPolicy = CfnDeletionPolicy.DELETE
}

/** Certificates and firewalls of distributions. CloudFront reads them from one region only. */
export class EdgeStack extends Stack {
  readonly edges: Readonly<Record<string, Edge>>

  constructor(scope: Construct, stackId: string, { settings, ...props }: StackProps & { readonly settings: Settings }) {
    super(scope, stackId, props)
    const edges = onEdge(settings).map(([id, { customDomain }]): [string, Edge] => {
      const parts = new Construct(this, id)
      const certificate =
        makesCertificate(customDomain) && certificateOf(parts, customDomain, zoneOf(parts, customDomain))
      if (certificate) keepReplaced(certificate)
      const firewall =
        settings.webApplicationFirewall && createFirewall(parts, 'CLOUDFRONT', `${settings.prefix}-${id}`)
      return [id, { ...(certificate && { certificate }), ...(firewall && { webAclArn: firewall.attrArn }) }]
    })
    this.edges = Object.fromEntries(edges)
  }
}
