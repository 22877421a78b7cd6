import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { linkTo } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import { Empty } from './empty.tsx'
import { Failure } from './failure.tsx'
import { bound } from './fields.tsx'
import { Icon, type IconName } from './icon.tsx'
import { Rows } from './rows.tsx'

export interface Named {
  readonly id: number
  readonly name: string
}

interface ChooserProps {
  readonly label: string
  readonly items: readonly Named[] | undefined
  readonly chosen: number | undefined
  readonly failure: unknown
  readonly onRepeat: () => void
  readonly none: { readonly icon: IconName; readonly title: string; readonly hint: string }
  readonly children: ComponentChildren
}

/** A list longer than this has a search field. */
const searchable = 10

export const found = <Item extends Named>(items: readonly Item[], text: string): readonly Item[] => {
  const wanted = text.trim().toLocaleLowerCase()
  return wanted === '' ? items : items.filter(({ name }) => name.toLocaleLowerCase().includes(wanted))
}

export const Find = ({ of: text }: { readonly of: Signal<string> }) => {
  const { find } = texts.value.chooser
  return (
    <div class="search">
      <input type="search" aria-label={find} placeholder={find} {...bound(text)} />
    </div>
  )
}

const List = ({ label, items, chosen }: Pick<ChooserProps, 'label' | 'chosen'> & { items: readonly Named[] }) => {
  const wanted = useSignal('')
  const shown = found(items, wanted.value)
  return (
    <>
      {items.length >= searchable && (
        <div class="chooser-find">
          <Find of={wanted} />
        </div>
      )}
      {shown.length === 0 && <p class="empty">{texts.value.chooser.none}</p>}
      <nav aria-label={label}>
        <Rows
          items={shown}
          active={shown.findIndex(({ id }) => id === chosen)}
          row={({ id, name }) => (
            <a
              key={id}
              class="chooser-item"
              href={linkTo({ path: [String(id)], query: {} })}
              aria-current={id === chosen ? 'page' : undefined}
              title={name}
            >
              <bdi>{name}</bdi>
            </a>
          )}
        />
      </nav>
    </>
  )
}

/** Shows a list, and the details of its selected item. A narrow screen shows only one of them. */
export const Chooser = ({ label, items, chosen, failure, onRepeat, none, children }: ChooserProps) => {
  const failed = failure !== undefined && (
    <div class="chooser-failure">
      <Failure error={failure} onRepeat={onRepeat} />
    </div>
  )
  if (!items) return failed || <p class="opening">{texts.value.loading}</p>
  if (items.length === 0) {
    return (
      <Empty {...none}>
        <p>{none.hint}</p>
      </Empty>
    )
  }
  return (
    <>
      {failed}
      <div class={`split${chosen === undefined ? '' : ' has-chosen'}`}>
        <section class="split-side" aria-label={label}>
          <h2 class="chooser-title">{label}</h2>
          <List label={label} items={items} chosen={chosen} />
        </section>
        <section class="split-main" aria-label={items.find(({ id }) => id === chosen)?.name ?? label}>
          {chosen !== undefined && (
            <a class="chooser-back" href={linkTo({ path: [], query: {} })}>
              <Icon name="left" />
              {texts.value.chooser.back}
            </a>
          )}
          {children}
        </section>
      </div>
    </>
  )
}
