import { Stack } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Construct } from 'constructs'
import type { Settings } from '../config/settings.ts'

/** By default, any value above 0 sets off the alarm after one period of five minutes. */
export interface Watch {
  readonly id: string
  readonly metric: IMetric
  readonly threshold?: number
  readonly periods?: number
  readonly impact: string
  readonly action: string
}

// A custom policy replaces the default policy, which lets alarms publish. So this policy allows alarms explicitly.
const createTopic = (scope: Construct, email: string): Topic => {
  const topic = new Topic(scope, 'Topic', { displayName: 'Alarms of site-admin', enforceSSL: true })
  const conditions = { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } }
  topic.grants.publish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions }))
  topic.addSubscription(new EmailSubscription(email))
  return topic
}

// A stack without its own topic uses the topic of a data centre in its region.
export const topicIn = ({ dataCentres }: Settings, there: string): string | undefined =>
  Object.values(dataCentres).find(({ region, alarmTopic }) => region === there && alarmTopic !== undefined)?.alarmTopic

/**
 * The alarms report when they begin and when they end. The topic of the installation, if it has one, is in the region
 * of the alarms.
 */
export const createAlarms = (
  scope: Construct,
  watches: readonly Watch[],
  { alarmEmail }: Settings,
  alarmTopic: string | undefined,
): readonly Alarm[] => {
  const topics = [
    ...(alarmEmail === undefined ? [] : [createTopic(scope, alarmEmail)]),
    ...(alarmTopic === undefined ? [] : [Topic.fromTopicArn(scope, 'InstallationTopic', alarmTopic)]),
  ]
  return watches.map(({ id, metric, threshold = 0, periods = 1, impact, action }) => {
    const alarm = new Alarm(scope, id, {
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `${impact} ${action}`,
    })
    const actions = topics.map((topic) => new SnsAction(topic))
    alarm.addAlarmAction(...actions)
    alarm.addOkAction(...actions)
    return alarm
  })
}
