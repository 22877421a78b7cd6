import { ArnFormat, Names, RemovalPolicy, Stack } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource, LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'

// The query and the page that a browser comes from are left out, because both may contain a token.
const recordFields = (
  'date time c-ip cs-method cs-uri-stem sc-status x-edge-request-id x-edge-detailed-result-type ' +
  'cs-bytes sc-bytes time-taken time-to-first-byte cs(User-Agent) ssl-protocol'
).split(' ')

/** Logs each request to a distribution, with the address of its caller. The log must be in the region of CloudFront. */
export const logDistribution = (scope: Construct, id: string, distribution: Distribution): void => {
  const parts = new Construct(scope, id)
  // CloudWatch Logs accepts deliveries to groups with this prefix without another policy for each group.
  const logGroupName = `/aws/vendedlogs/cloudfront/${Stack.of(distribution).stackName}`
  const logs = new LogGroup(parts, 'AccessLogs', { logGroupName, removalPolicy: RemovalPolicy.DESTROY })
  const name = Names.uniqueResourceName(parts, { maxLength: 60, separator: '-' })
  const source = new CfnDeliverySource(parts, 'Source', {
    name,
    logType: 'ACCESS_LOGS',
    resourceArn: distribution.distributionArn,
  })
  const destination = new CfnDeliveryDestination(parts, 'Destination', {
    name,
    outputFormat: 'json',
    destinationResourceArn: Stack.of(parts).formatArn({
      service: 'logs',
      resource: 'log-group',
      resourceName: logs.logGroupName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    }),
  })
  const delivery = new CfnDelivery(parts, 'Delivery', {
    deliverySourceName: name,
    deliveryDestinationArn: destination.attrArn,
    recordFields,
  })
  delivery.addResourceDependency(source)
}
