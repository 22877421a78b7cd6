import { tables } from '../../lib/config/tables.ts'

/** The answer of CloudFormation: a stack with the tables under their names in the service, a bucket and a key. */
export const stackAnswer = () => {
  const named = Object.keys(tables).map((name) => [`${name.charAt(0).toUpperCase()}${name.slice(1)}Table`, name])
  const outputs = [...named, ['FilesBucket', 'files'], ['WebhooksKey', 'key']].map(
    ([key, name]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${name}</OutputValue></member>`,
  )
  const stack = `<member><Outputs>${outputs.join('')}</Outputs></member>`
  return `<DescribeStacksResponse><DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult></DescribeStacksResponse>`
}
