import type { Template } from 'aws-cdk-lib/assertions'

/**
 * Leaves out names, hashes and references, and properties that other tests compare: permissions, texts, keys, the
 * dashboard.
 */
const leftOut =
  /^(AWS::(ApiGateway::Gateway|IAM|Lambda::Permission|CloudWatch::Dashboard)|Custom::S3)|\b(Tags|Code|\w*Description|Comment|Name|\w*Document|\w*Token|Dimensions|Metrics|KeySchema|AttributeDefinitions|GlobalSecondaryIndexes|CorsConfiguration|EnvironmentVariables|Environment|Filters|Origins|InputTemplate|(?!(Metric|CachePolicy|OriginRequestPolicy|Kms|KMS))\w+(Id|Arn|ARN|Name|Pattern|Transformations)|Fn::\w+)\b/

type Leaf = readonly [path: string, text: string]

/** The single values in a tree, each with its path. References to other resources are left out. */
const leavesOf = (value: unknown, path: string): readonly Leaf[] => {
  if (typeof value !== 'object' || value === null) return [[path, String(value)]]
  if (Array.isArray(value)) {
    const isPlain = value.every((one) => typeof one !== 'object')
    return isPlain ? [[path, value.join(', ')]] : value.flatMap((one) => leavesOf(one, path))
  }
  if ('Ref' in value) return []
  return Object.entries(value).flatMap(([name, inside]) => leavesOf(inside, `${path}.${name}`))
}

const byText = <Entry extends readonly [string, unknown]>(entries: readonly Entry[]): Entry[] =>
  entries.toSorted(([a], [b]) => (a < b ? -1 : 1))

/**
 * The properties of each resource type: one line per property, with its values and the number of resources that have
 * each.
 */
export const summarise = (template: Template): readonly string[] => {
  const resources: readonly { readonly Type: string; readonly Properties?: object }[] = Object.values(
    template.toJSON().Resources,
  )
  const leaves = resources.flatMap(({ Type, Properties = {}, ...policies }) => [
    ...leavesOf(Properties, Type),
    ...leavesOf({ ...policies, DependsOn: { Ref: '' }, Metadata: { Ref: '' } }, Type),
  ])
  const shown = leaves.filter(([path]) => !leftOut.test(path))
  return byText(Object.entries(Object.groupBy(shown, ([path]) => path))).map(([path, found = []]) => {
    const texts = byText(Object.entries(Object.groupBy(found, ([, text]) => text)))
    return `${path}: ${texts.map(([text, all = []]) => `${all.length} × ${text}`).join(', ')}`
  })
}
