import type { ListedObject } from './object-store.ts'

/** The `ETag` of a file in this state, quotes included: what a caller sends back in `If-Match`, `If-None-Match` and `If-Range`. */
export const entityTagOf = ({ version }: Pick<ListedObject, 'version'>): string => `"${version}"`
