import type { iconPaths } from './icon-paths.ts'

export type IconName = keyof typeof iconPaths

/** An icon is only decoration: the text or the label beside it gives the meaning. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class={`icon icon-${name}`} viewBox="0 0 20 20" aria-hidden="true">
    <use href={`#icon-${name}`} />
  </svg>
)
