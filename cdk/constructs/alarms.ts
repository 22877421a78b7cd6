import type { Stack } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import type { Settings } from '../settings.ts'
import { type Watched, watchesOf } from './watches.ts'

const createTopic = (scope: Construct, email: string): Topic => {
  const topic = new Topic(scope, 'Topic', { displayName: 'Alarms of site-admin', enforceSSL: true })
  topic.addSubscription(new EmailSubscription(email))
  return topic
}

/** Alarms that say what callers notice and what to do; told by e-mail when somebody wants to know. */
export const createAlarms = (stack: Stack, watched: Watched, { alarmEmail }: Settings): readonly Alarm[] => {
  const scope = new Construct(stack, 'Alarms')
  const topic = alarmEmail === undefined ? undefined : createTopic(scope, alarmEmail)
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
