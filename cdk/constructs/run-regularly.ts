import type { Duration } from 'aws-cdk-lib'
import { Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction as Target } from 'aws-cdk-lib/aws-events-targets'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'

/**
 * Runs a function at an interval. A failed run is not repeated, because the next one is soon: repeated failures would
 * set off an alarm that waits for two failed runs.
 */
export const runRegularly = (scope: Construct, id: string, lambda: IFunction, every: Duration): void => {
  // EventBridge repeats a call that Lambda did not accept. Lambda itself repeats a run that failed.
  const retryAttempts = 0
  lambda.configureAsyncInvoke({ retryAttempts })
  new Rule(scope, id, { schedule: Schedule.rate(every), targets: [new Target(lambda, { retryAttempts })] })
}
