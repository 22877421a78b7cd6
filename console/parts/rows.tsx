import { signal, useSignal } from '@preact/signals'
import type { ComponentChildren, HTMLAttributes, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { setter } from './setter.ts'
import { useSize } from './size.ts'

/** The attributes of the element that scrolls. */
type Box = Omit<HTMLAttributes<HTMLDivElement>, 'ref'> & { readonly ref?: RefObject<HTMLDivElement | null> }

interface RowsProps<Item> {
  readonly items: readonly Item[]
  /**
   * Draws a row. Use `slot` as the key: scrolling moves elements from one end of the list to the other, which is
   * cheaper than creating new ones.
   */
  readonly row: (item: Item, index: number, slot: number) => ComponentChildren
  readonly active?: number | undefined
  /** Called when the last row is drawn. A new `onEnd` is called at once if the last row is already drawn. */
  readonly onEnd?: () => void
  /** The role of the rows. The element that scrolls has the focus, so that the keyboard scrolls it. */
  readonly box?: Box
  /** Stays above the rows while they scroll. */
  readonly head?: ComponentChildren
}

const noRole: Box = { class: 'rows', role: 'presentation' }

/** Draws this many rows beyond the visible ones, so that scrolling shows no gaps. */
const spare = 8

/** More rows than these would make a print slow. */
const mostPrinted = 5_000
const isPrinted = signal(false)
addEventListener('beforeprint', setter(isPrinted, true))
addEventListener('afterprint', setter(isPrinted, false))

/**
 * Draws only the visible rows of a list of any length, and more rows for a print. All rows have the same height, which
 * the style sheet defines and which grows with the text.
 */
export const Rows = <Item,>({ items, row, active = -1, box = noRole, head, onEnd }: RowsProps<Item>) => {
  const count = items.length
  const own = useRef<HTMLDivElement>(null)
  const ref = box.ref ?? own
  const drawn = useRef<HTMLDivElement>(null)
  const seen = useSignal({ top: 0, view: 800, height: 36 })
  const look = () => {
    const shown = ref.current
    const height = drawn.current?.firstElementChild?.getBoundingClientRect().height || seen.peek().height
    const above = drawn.current?.parentElement?.offsetTop ?? 0
    if (shown) seen.value = { top: shown.scrollTop, view: shown.clientHeight - above, height }
  }
  useSize(ref, look)
  useSize(drawn, look)
  const { height } = seen.value
  const { top, view } = isPrinted.value ? { top: 0, view: mostPrinted * height } : seen.value
  useLayoutEffect(() => {
    const shown = ref.current
    if (!shown || active < 0) return
    look()
    const top = active * height
    if (top < shown.scrollTop) shown.scrollTop = top
    else shown.scrollTop = Math.max(shown.scrollTop, top + height - seen.peek().view)
  }, [active, height])
  const first = Math.max(0, Math.min(count, Math.floor(top / height)) - spare)
  const last = Math.min(count, Math.ceil((top + view) / height) + spare)
  const isEnd = last >= count
  useEffect(() => {
    if (isEnd) onEnd?.()
  }, [isEnd, onEnd])
  const slots = Math.ceil(view / height) + 1 + 2 * spare
  return (
    <div {...box} ref={ref} onScroll={look}>
      {head}
      <div role="presentation" class="rows-all" style={{ height: `${count * height}px` }}>
        <div ref={drawn} role="presentation" class="rows-seen" style={{ transform: `translateY(${first * height}px)` }}>
          {items.slice(first, last).map((item, index) => row(item, first + index, (first + index) % slots))}
        </div>
      </div>
      {isPrinted.value && last < count && <p>+ {texts.value.items(count - last)}</p>}
    </div>
  )
}
