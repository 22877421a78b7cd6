import type { ListedObject } from './object-store.ts'

/** The `ETag` of a file in this state, quotes included: what a caller sends back in `If-Match`, `If-None-Match` and `If-Range`. */
export const entityTagOf = ({ version }: Pick<ListedObject, 'version'>): string => `"${version}"`

/** The version that the tag of a file names where it is called by its own type: the bytes are the same, but not what they are called. */
export const typedVersion = (version: string): string => `${version}.typed`
