import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface RowsProps {
  readonly count: number
  /** The height of each row, in pixels. */
  readonly height: number
  /**
   * Draws a row. Rows that leave the window at one end come in at the other: with its `slot` as the key, a row is used
   * again there, which is cheaper than a new one.
   */
  readonly row: (index: number, slot: number) => ComponentChildren
  /** The row that is kept in sight when it changes. */
  readonly active?: number | undefined
  /**
   * Of a list that is nothing else: what stands around a grid or a tree has its own role, and the keyboard is there.
   */
  readonly list?: string
}

/** In pixels, as `--row` of the style sheet; a finger needs more. */
export const rowHeight = (): number => (matchMedia('(pointer: coarse)').matches ? 44 : 36)

/** So many rows more than are seen are there, so that scrolling shows no gaps. */
const spare = 8

interface Window {
  readonly first: number
  readonly last: number
}

/** The rows to draw, without `last`. Distances in pixels. */
export const windowOf = (top: number, view: number, height: number, count: number): Window => ({
  first: Math.max(0, Math.min(count, Math.floor(top / height)) - spare),
  last: Math.min(count, Math.ceil((top + view) / height) + spare),
})

/** A list of any length, of which only the rows in sight are there. All rows are of one height. */
export const Rows = ({ count, height, row, active, list }: RowsProps) => {
  const box = useRef<HTMLDivElement>(null)
  const seen = useSignal({ top: 0, view: 800 })
  useLayoutEffect(() => {
    const shown = box.current
    if (!shown) return
    const look = () => {
      seen.value = { top: shown.scrollTop, view: shown.clientHeight }
    }
    const sizes = new ResizeObserver(look)
    sizes.observe(shown)
    look()
    return () => sizes.disconnect()
  }, [])
  useLayoutEffect(() => {
    const shown = box.current
    if (!shown || active === undefined || active < 0) return
    const top = active * height
    if (top < shown.scrollTop) shown.scrollTop = top
    else if (top + height > shown.scrollTop + shown.clientHeight) shown.scrollTop = top + height - shown.clientHeight
  }, [active, height])
  const { first, last } = windowOf(seen.value.top, seen.value.view, height, count)
  const slots = Math.ceil(seen.value.view / height) + 1 + 2 * spare
  return (
    <div
      ref={box}
      class="rows"
      role={list === undefined ? 'presentation' : 'list'}
      aria-label={list}
      tabIndex={list === undefined ? undefined : 0}
      onScroll={({ currentTarget }) => {
        seen.value = { top: currentTarget.scrollTop, view: currentTarget.clientHeight }
      }}
    >
      <div role="presentation" class="rows-all" style={{ height: `${count * height}px` }}>
        <div role="presentation" class="rows-seen" style={{ transform: `translateY(${first * height}px)` }}>
          {Array.from({ length: Math.max(0, last - first) }, (_, index) => row(first + index, (first + index) % slots))}
        </div>
      </div>
    </div>
  )
}
