import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { LiveList } from '../page/live-list.ts'
import { useRetainedFocus } from '../parts/focus.ts'
import { ListState } from '../parts/list-state.tsx'

interface SectionProps {
  readonly title: string
  readonly purpose?: string
  readonly action: ComponentChildren
  readonly list: LiveList<unknown>
  readonly children: ComponentChildren
}

/** A part of the access view: one list with its title and its button. */
export const Section = ({ title, purpose, action, list, children }: SectionProps) => {
  const heading = useId()
  const box = useRetainedFocus<HTMLElement>()
  return (
    <section ref={box} aria-labelledby={heading} tabIndex={-1}>
      <div class="pane-head">
        <h2 id={heading}>{title}</h2>
        {action}
      </div>
      {purpose && <p class="soft">{purpose}</p>}
      <ListState items={list.items.value} failure={list.failure.value} onRepeat={list.load} />
      {children}
    </section>
  )
}
