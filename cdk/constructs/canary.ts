import { Duration, SecretValue, Stack } from 'aws-cdk-lib'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import { settingsOf } from '../../lib/config/config.ts'
import { environmentOf } from '../../lib/config/settings.ts'
import type { Settings } from '../config/settings.ts'
import { runRegularly } from './run-regularly.ts'
import { createServiceFunction } from './service-functions.ts'

/** Uses the service every five minutes as a caller does, with its own token. On AWS, it may only write its log. */
export const createCanary = (scope: Construct, bundle: string, baseUrl: string, settings: Settings): LambdaFunction => {
  // An operator must store the token in this secret before the deployment.
  const secret = SecretValue.secretsManager(`${Stack.of(scope).stackName}-canary`)
  const lambda = createServiceFunction(scope, 'CanaryFunction', {
    bundle,
    description: 'Uses the service as a caller does, and fails when the service fails',
    environment: environmentOf(settingsOf.canary, { baseUrl, canaryToken: secret.unsafeUnwrap() }),
    memorySize: 256,
    timeout: Duration.minutes(2),
    settings: { ...settings, logLevel: 'INFO' },
  })
  runRegularly(lambda, 'Schedule', lambda, Duration.minutes(5))
  return lambda
}
