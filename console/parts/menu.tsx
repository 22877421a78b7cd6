import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'
import { setter } from './setter.ts'

export interface MenuItem {
  readonly label: string
  readonly icon?: IconName
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  /** If set, the item is a radio item, which is selected or not. */
  readonly isChosen?: boolean
  /** If true, a line separates the item from the item above. */
  readonly hasSeparator?: boolean
  readonly keys?: string
  readonly run: () => void
}

interface MenuProps {
  readonly label: string
  readonly items: readonly MenuItem[]
  /** In pixels of the window. */
  readonly at: { readonly x: number; readonly y: number }
  readonly onClose: () => void
}

const step = (menu: HTMLElement, event: KeyboardEvent) => {
  const items = [...menu.querySelectorAll<HTMLElement>('[role^=menuitem]:not([disabled])')]
  const now = items.findIndex((item) => item.matches(':focus'))
  const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: items.length - 1 }[event.key]
  if (next === undefined) return
  event.preventDefault()
  items.at(next % items.length)?.focus()
}

/** The menu stays open until the user clicks an item, or outside the menu. */
export const Menu = ({ label, items, at, onClose }: MenuProps) => {
  const menu = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const shown = menu.current
    if (!shown) return
    const before = document.activeElement
    const leave = (event: Event) => {
      // The button that opened the menu also closes it.
      const isOwn =
        event.target instanceof Element &&
        (shown.contains(event.target) || event.target.closest('[aria-haspopup][aria-expanded=true]'))
      if (!isOwn) onClose()
    }
    // Without this, the platform would treat the end of the opening click as a click outside.
    document.addEventListener('pointerdown', leave, true)
    shown.showPopover()
    const { width, height } = shown.getBoundingClientRect()
    shown.style.left = `${Math.max(4, Math.min(at.x, innerWidth - width - 4))}px`
    shown.style.top = `${Math.max(4, Math.min(at.y, innerHeight - height - 4))}px`
    shown.querySelector<HTMLElement>('[role^=menuitem]:not([disabled])')?.focus()
    return () => {
      document.removeEventListener('pointerdown', leave, true)
      if (shown.contains(document.activeElement) && before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <div
      ref={menu}
      popover="manual"
      role="menu"
      class="menu"
      aria-label={label}
      onKeyDown={(event) => {
        event.stopPropagation()
        step(event.currentTarget, event)
        if (event.key === 'Escape') event.preventDefault()
        if (event.key === 'Escape' || event.key === 'Tab') onClose()
      }}
    >
      {items.map(({ label, icon, isDangerous, isDisabled, hasSeparator, isChosen, keys, run }) => (
        <button
          key={label}
          type="button"
          role={isChosen === undefined ? 'menuitem' : 'menuitemradio'}
          aria-checked={isChosen}
          tabIndex={-1}
          class={`${isDangerous ? 'is-dangerous' : ''}${hasSeparator ? ' is-apart' : ''}`}
          disabled={isDisabled}
          onClick={() => {
            onClose()
            run()
          }}
        >
          {isChosen === undefined ? (
            icon && <Icon name={icon} />
          ) : isChosen ? (
            <Icon name="check" />
          ) : (
            <span class="icon" />
          )}
          <span>{label}</span>
          {keys && <kbd>{keys}</kbd>}
        </button>
      ))}
    </div>
  )
}

interface MenuButtonProps {
  readonly label: string
  readonly icon: IconName
  readonly kind?: 'quiet' | 'primary'
  readonly items: readonly MenuItem[]
  readonly children?: ComponentChildren
}

export const MenuButton = ({ label, icon, kind = 'quiet', items, children }: MenuButtonProps) => {
  const at = useSignal<{ x: number; y: number }>()
  return (
    <>
      <Button
        icon={icon}
        kind={kind}
        label={label}
        hasMenu
        expanded={at.value !== undefined}
        onClick={({ currentTarget }) => {
          if (!(currentTarget instanceof HTMLElement)) return
          const { left, bottom } = currentTarget.getBoundingClientRect()
          at.value = at.value ? undefined : { x: left, y: bottom + 4 }
        }}
      >
        {children}
      </Button>
      {at.value && <Menu label={label} items={items} at={at.value} onClose={setter(at, undefined)} />}
    </>
  )
}
