import type { Stack } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import type { Settings } from '../settings.ts'
import { type Watched, watchesOf } from './watches.ts'

/** A topic with a policy of its own has lost the one that lets alarms of the account publish to it, so that they are let in by name. */
const createTopic = (scope: Construct, email: string, account: string): Topic => {
  const topic = new Topic(scope, 'Topic', { displayName: 'Alarms of site-admin', enforceSSL: true })
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': account } },
    }),
  )
  topic.addSubscription(new EmailSubscription(email))
  return topic
}

/** Alarms that say what callers notice and what to do; told by e-mail when somebody wants to know. */
export const createAlarms = (stack: Stack, watched: Watched, { alarmEmail }: Settings): readonly Alarm[] => {
  const scope = new Construct(stack, 'Alarms')
  const topic = alarmEmail === undefined ? undefined : createTopic(scope, alarmEmail, stack.account)
  return watchesOf(watched).map(({ id, metric, threshold, periods, impact, action }) => {
    const alarm = new Alarm(scope, id, {
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `${impact} ${action}`,
    })
    if (topic) alarm.addAlarmAction(new SnsAction(topic))
    return alarm
  })
}
