import type { Template } from 'aws-cdk-lib/assertions'
import { functionNames } from '../../../cdk/config/functions.ts'
import { tables } from '../../../lib/config/tables.ts'

interface Resource {
  readonly Type: string
  readonly Properties?: { readonly Tags?: unknown }
}

/** Types that repeat the routes of the gateway, and resources by which the CDK copies or removes objects of S3. */
const leftOut = /^AWS::(ApiGateway::(Deployment|Method|Resource)|Lambda::(Permission|Version))$|^(Custom::|Custom)?S3/
/** Types with so many resources that each gets one line. */
const brief = /^AWS::(ApiGateway::GatewayResponse|CloudWatch::Alarm|Logs::MetricFilter)$/
/** Properties that change with the code or with the CDK. */
const changing = /^(Code|Content|DeploymentId|FunctionVersion|Metadata|Tags)$/
/** CloudFormation also deletes resources without these policies. */
const isDefault = (name: string, value: unknown): boolean =>
  /^(Deletion|UpdateReplace)Policy$/.test(name) && value === 'Delete'

/** The CDK adds a hash of the path to the name of a resource. */
const nameOf = (id: string): string => id.replace(/[0-9A-F]{8}$/, '')

const withoutHashes = (text: string): string => text.replaceAll(/(?<=[A-Za-z])[0-9A-F]{8}\b/g, '')

/** A value on one line. Other resources appear as `<Name>` or `<Name.Attribute>`. */
const textOf = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return withoutHashes(String(value)).replaceAll('\n', ' ')
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`
  const [[name = '', inside] = [], ...others] = Object.entries(value)
  if (others.length === 0 && name === 'Ref') return `<${nameOf(inside)}>`
  if (others.length === 0 && name === 'Fn::GetAtt') return `<${nameOf(inside[0])}.${inside[1]}>`
  if (others.length === 0 && name === 'Fn::Join') return inside[1].map(textOf).join(inside[0])
  const members = Object.entries(value).map(([member, one]) => `${member}: ${textOf(one)}`)
  return `{${members.join(', ')}}`
}

const linesOf = (id: string, { Type, Properties, ...policies }: Resource): readonly string[] => {
  const place = `${nameOf(id)} (${Type.replace('AWS::', '')})`
  const shown = Object.entries({ ...Properties, ...policies }).filter(
    ([name, value]) => !changing.test(name) && !isDefault(name, value),
  )
  if (brief.test(Type)) return [`${place} ${textOf(Object.fromEntries(shown))}`]
  return shown.flatMap(([name, value]) => {
    if (name !== 'DashboardBody') return `${place} ${name}: ${textOf(value)}`
    const { widgets }: { readonly widgets: readonly unknown[] } = JSON.parse(textOf(value))
    return widgets.map((widget) => `${place} ${textOf(widget)}`)
  })
}

const linesIn = (template: Template): readonly string[] => {
  const { Resources = {}, Outputs = {} } = template.toJSON()
  const resources: readonly [string, Resource][] = Object.entries(Resources)
  const withTags = resources.filter(([, { Properties }]) => Properties?.Tags)
  const tagged = Object.groupBy(withTags, ([, { Properties }]) => textOf(Properties?.Tags))
  return [
    ...resources
      .filter(([id, { Type }]) => ![id, Type].some((name) => leftOut.test(name)))
      .flatMap(([id, resource]) => linesOf(id, resource)),
    ...Object.entries(tagged).map(([tags, { length } = []]) => `Tags of ${length} resources: ${tags}`),
    ...Object.entries(Outputs).map(([name, value]) => `Output ${name}: ${textOf(value)}`),
  ]
}

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/** Functions and tables. The longest names come first, because some contain others. */
const subjects = [...functionNames, ...Object.keys(tables)].toSorted((a, b) => b.length - a.length)

const subjectOf = (line: string): string | undefined => {
  const [id = ''] = line.split(' (')
  return subjects.find((subject) => id.includes(subject) || id.includes(capitalised(subject)))
}

const withoutSubject = (line: string): string => {
  const subject = subjectOf(line)
  return subject ? line.replaceAll(subject, '*').replaceAll(capitalised(subject), '*') : line
}

/** Sorts lines. Lines that differ only in their function or table become one line, with `*` in place of that name. */
const summarise = (lines: readonly string[]): readonly string[] =>
  [...Map.groupBy(lines, withoutSubject)]
    .map(([common, all]) =>
      all.length > 1 ? `${common}, for ${all.map(subjectOf).toSorted().join(', ')}` : all.join(),
    )
    .toSorted()

export const describeStack = (template: Template): readonly string[] => summarise(linesIn(template))

/** The lines that a stack has or lacks in comparison with another stack. */
export const compareStacks = (template: Template, other: Template): readonly string[] => {
  const [lines, others] = [linesIn(template), linesIn(other)]
  return [
    ...summarise(others.filter((line) => !lines.includes(line))).map((line) => `- ${line}`),
    ...summarise(lines.filter((line) => !others.includes(line))).map((line) => `+ ${line}`),
  ]
}
