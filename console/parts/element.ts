/** The build imports these names into each module with JSX (`tools/packaging/build-console.ts`). */
export { createElement, Fragment } from 'preact'
