import { type RouteOf, routes } from './routes.ts'

/** The rows of the route table that a group answers. */
export const routesOf = <Group extends (typeof routes)[number]['group']>(group: Group): readonly RouteOf<Group>[] =>
  routes.filter((route): route is RouteOf<Group> => route.group === group)
