import { CfnRestApi, EndpointAccessMode, EndpointType, type RestApi, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway'
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager'
import { ARecord, HostedZone, type IHostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets'
import { Construct, type IDependable } from 'constructs'
import type { DataCentreSettings } from '../config/settings.ts'

// Allows TLS 1.2 and 1.3. By default, a regional API also allows TLS 1.0 on its domains.
const security = { securityPolicy: SecurityPolicy.TLS13_1_2_PQ_2025_09, endpointAccessMode: EndpointAccessMode.STRICT }

export type CustomDomain = NonNullable<DataCentreSettings['customDomain']>

export const zoneOf = (scope: Construct, { domainName, hostedZoneId }: CustomDomain): IHostedZone | undefined =>
  // A record without a name would get the name of the zone, so each record gets the name of the domain.
  hostedZoneId === undefined
    ? undefined
    : HostedZone.fromHostedZoneAttributes(scope, 'Zone', { hostedZoneId, zoneName: domainName })

export const certificateOf = (scope: Construct, { domainName, certificateArn }: CustomDomain, zone?: IHostedZone) =>
  certificateArn === undefined
    ? new Certificate(scope, 'Certificate', { domainName, validation: CertificateValidation.fromDns(zone) })
    : Certificate.fromCertificateArn(scope, 'Certificate', certificateArn)

/**
 * Requires TLS 1.2 or newer. Adds the custom domain and its certificate. If the zone of the domain is known, also adds
 * the record of the domain. Returns the resources that must exist before callers are sent here.
 */
export const createEntrance = (api: RestApi, customDomain: CustomDomain | undefined): readonly IDependable[] => {
  const resource = api.node.defaultChild
  if (CfnRestApi.isCfnRestApi(resource)) Object.assign(resource, security)
  if (!customDomain) return [api.deploymentStage]

  const scope = new Construct(api, 'Entrance')
  const zone = zoneOf(scope, customDomain)
  const domain = api.addDomainName('CustomDomain', {
    domainName: customDomain.domainName,
    certificate: certificateOf(scope, customDomain, zone),
    endpointType: EndpointType.REGIONAL,
    ...security,
  })
  if (!zone) return [domain]
  return [domain, new ARecord(scope, 'Record', { zone, target: RecordTarget.fromAlias(new ApiGatewayDomain(domain)) })]
}
