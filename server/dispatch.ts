import { catchAllGroup, prefixes } from '../functions/routes.ts'
import type { Handler } from '../lib/http/request.ts'

type Group = (typeof prefixes)[number]['group']

/** The handler for a path, as the gateway's routes choose the function for it. */
export const dispatch =
  (handlers: Readonly<Record<Group, Handler>>) =>
  (path: string): Handler => {
    const found = prefixes.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))
    return handlers[found?.group ?? catchAllGroup]
  }
