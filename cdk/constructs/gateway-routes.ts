import { type IResource, LambdaIntegration, type RestApi } from 'aws-cdk-lib/aws-apigateway'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { catchAllGroup, prefixes } from '../../functions/routes.ts'
import { byFunction, type FunctionName, type ServedGroup } from '../functions.ts'

export type Functions = Readonly<Record<FunctionName, IFunction>>

/**
 * Every method on every path goes to a function: a group's prefix and what lies below it to that group's, all else to one of them,
 * so that 404 and 405 are the service's own.
 */
export const addRoutes = ({ root }: RestApi, functions: Functions): void => {
  const integrations = byFunction((name) => new LambdaIntegration(functions[name], { allowTestInvoke: false }))
  const answer = (resource: IResource, group: ServedGroup): IResource => {
    resource.addMethod('ANY', integrations[group])
    return resource
  }
  const below = (parent: IResource, segment: string, group: ServedGroup): IResource =>
    parent.getResource(segment) ?? answer(parent.addResource(segment), group)

  answer(root, catchAllGroup)
  answer(root.addResource('{proxy+}'), catchAllGroup)
  for (const { group, prefix } of prefixes) {
    const segments = prefix.split('/').filter(Boolean)
    const last = segments.length - 1
    const resource = segments.reduce<IResource>(
      (parent, segment, depth) => below(parent, segment, depth === last ? group : catchAllGroup),
      root,
    )
    answer(resource.addResource('{proxy+}'), group)
  }
}
