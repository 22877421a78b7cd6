import type { ListedObject } from './object-store.ts'

/** The `ETag` of a file in this state, quotes included: what a caller sends back in `If-Match`, `If-None-Match` and `If-Range`. */
export const entityTagOf = ({ version }: Pick<ListedObject, 'version'>): string => `"${version}"`

/** The version in the `ETag` of a file that is called by its own type: the bytes are the same, but not what they are called. */
export const typedVersion = (version: string): string => `${version}.typed`

export const typedTagOf = ({ version }: Pick<ListedObject, 'version'>): string =>
  entityTagOf({ version: typedVersion(version) })
