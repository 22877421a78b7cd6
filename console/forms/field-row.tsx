import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { Field } from '../../client/src/index.ts'
import { Icon } from '../parts/icon.tsx'
import { MenuButton } from '../parts/menu.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { fieldNameOf } from './field-names.ts'

interface FieldRowProps {
  readonly field: Field
  readonly index: number
  readonly count: number
  readonly canChange: boolean
  readonly onMandatory: (mandatory: boolean) => void
  /** Moves the field before the row with this index. */
  readonly onMove: (before: number) => void
  readonly onStep: (step: number) => void
  readonly onRemove: () => void
}

/**
 * Returns the index of the row before which a dropped field is placed: the number of rows whose middle is above the
 * pointer.
 */
const dropIndex = (rows: readonly { readonly top: number; readonly height: number }[], y: number): number =>
  rows.filter(({ top, height }) => top + height / 2 < y).length

const mark = (rows: readonly Element[], before: number | undefined): void => {
  rows.forEach((row, index) => {
    row.classList.toggle('is-before', index === before)
    row.classList.toggle('is-after', index === rows.length - 1 && before === rows.length)
  })
}

/** Drags a row by its handle with mouse, pen or finger. Escape cancels. */
const useDrag = (onMove: (before: number) => void) => {
  const isDragged = useSignal(false)
  const begin = (event: PointerEvent) => {
    const handle = event.currentTarget
    if (!(handle instanceof HTMLElement) || event.button !== 0) return
    const rows = [...(handle.closest('ol')?.children ?? [])]
    let before: number | undefined
    const follow = ({ clientY, clientX }: PointerEvent) => {
      isDragged.value = true
      before = dropIndex(
        rows.map((row) => row.getBoundingClientRect()),
        clientY,
      )
      mark(rows, before)
      document.elementFromPoint(clientX, clientY)?.closest('li')?.scrollIntoView({ block: 'nearest' })
    }
    const end = (isDropped: boolean) => {
      handle.removeEventListener('pointermove', follow)
      handle.removeEventListener('pointerup', drop)
      handle.removeEventListener('pointercancel', cancel)
      removeEventListener('keydown', giveUp)
      mark(rows, undefined)
      if (isDropped && isDragged.value && before !== undefined) onMove(before)
      isDragged.value = false
    }
    const drop = () => end(true)
    const cancel = () => end(false)
    const giveUp = ({ key }: KeyboardEvent) => key === 'Escape' && end(false)
    handle.setPointerCapture(event.pointerId)
    handle.addEventListener('pointermove', follow)
    handle.addEventListener('pointerup', drop)
    handle.addEventListener('pointercancel', cancel)
    addEventListener('keydown', giveUp)
  }
  return { isDragged, begin }
}

export const FieldRow = ({ field, index, count, canChange, onMandatory, onMove, onStep, onRemove }: FieldRowProps) => {
  const t = viewTexts.value.forms
  const hint = useId()
  const { isDragged, begin } = useDrag(onMove)
  const name = fieldNameOf(field)
  const isFirst = index === 0
  const isLast = index === count - 1
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    onStep(step)
  }
  return (
    <li class={`field-row${isDragged.value ? ' is-dragged' : ''}`} data-field={field.id}>
      {canChange && (
        <>
          <button
            type="button"
            class="field-handle"
            aria-label={t.move(name)}
            aria-describedby={hint}
            title={t.moveHint}
            onPointerDown={begin}
            onKeyDown={onKeyDown}
          >
            <Icon name="grip" />
          </button>
          <span id={hint} class="unseen">
            {t.moveHint}
          </span>
        </>
      )}
      <span class="field-place">{index + 1}</span>
      <span class="field-name">
        <bdi>{name}</bdi>
      </span>
      <label class="check">
        <input
          type="checkbox"
          checked={field.mandatory}
          disabled={!canChange}
          aria-label={t.mandatoryOf(name)}
          onChange={({ currentTarget }) => onMandatory(currentTarget.checked)}
        />
        <span aria-hidden="true">{t.mandatory}</span>
      </label>
      {canChange && (
        <MenuButton
          icon="more"
          label={viewTexts.value.actions(name)}
          items={[
            { label: t.moveUp, icon: 'up', isDisabled: isFirst, run: () => onStep(-1) },
            { label: t.moveDown, icon: 'down', isDisabled: isLast, run: () => onStep(1) },
            { label: t.moveFirst, isDisabled: isFirst, run: () => onMove(0) },
            { label: t.moveLast, isDisabled: isLast, run: () => onMove(count) },
            { label: t.remove, icon: 'remove', isDangerous: true, run: onRemove },
          ]}
        />
      )}
    </li>
  )
}
