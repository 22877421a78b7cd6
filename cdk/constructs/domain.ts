import { CfnRestApi, EndpointAccessMode, EndpointType, type RestApi, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway'
import { Certificate, CertificateValidation, type ICertificate } from 'aws-cdk-lib/aws-certificatemanager'
import { ARecord, HostedZone, type IHostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets'
import { Construct, type IDependable } from 'constructs'
import type { DataCentreSettings } from '../config/settings.ts'

// TLS 1.2 and 1.3. The default of a regional API allows 1.0, also on its domains.
const security = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.STRICT,
}

export type CustomDomain = NonNullable<DataCentreSettings['customDomain']>

export const zoneOf = (scope: Construct, { domainName, hostedZoneId }: CustomDomain): IHostedZone | undefined =>
  // Records without a name get that of the zone, so each gets the name of the domain.
  hostedZoneId === undefined
    ? undefined
    : HostedZone.fromHostedZoneAttributes(scope, 'Zone', { hostedZoneId, zoneName: domainName })

export const certificateOf = (
  scope: Construct,
  { domainName, certificateArn }: CustomDomain,
  zone?: IHostedZone,
): ICertificate =>
  certificateArn === undefined
    ? new Certificate(scope, 'Certificate', { domainName, validation: CertificateValidation.fromDns(zone) })
    : Certificate.fromCertificateArn(scope, 'Certificate', certificateArn)

/**
 * Requires TLS 1.2 or newer. Adds the custom domain with its certificate and, in a known zone, its record. Returns the
 * resources that must exist before callers are sent here.
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
