import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'

interface ButtonProps {
  /** While its promise is pending, the button ignores clicks. */
  readonly onClick?: ((event: MouseEvent) => unknown) | undefined
  readonly icon?: IconName
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet'
  readonly type?: 'button' | 'submit'
  readonly disabled?: boolean
  readonly children?: ComponentChildren
  /** The name of a button without text. */
  readonly label?: string
  readonly title?: string
  readonly expanded?: boolean
  readonly tabIndex?: number
  readonly hasMenu?: boolean
  /** When its dialog opens, this button gets the focus. */
  readonly isDefault?: boolean
}

/** Ignores a click while the work of the click before is still running. */
export const useOneClick = <Event,>(work: ((event: Event) => unknown) | undefined) => {
  const isBusy = useRef(false)
  return async (event: Event): Promise<void> => {
    if (isBusy.current) return
    isBusy.current = true
    try {
      await work?.(event)
    } finally {
      isBusy.current = false
    }
  }
}

export const Button = ({
  onClick,
  icon,
  kind = 'plain',
  type = 'button',
  disabled,
  children,
  label,
  ...rest
}: ButtonProps) => (
  <button
    type={type}
    class={`button button-${kind}${children === undefined ? ' button-icon' : ''}`}
    onClick={useOneClick(onClick)}
    disabled={disabled}
    aria-label={label}
    title={rest.title ?? label}
    aria-haspopup={rest.hasMenu ? 'menu' : undefined}
    aria-expanded={rest.expanded}
    tabIndex={rest.tabIndex}
    data-default={rest.isDefault || undefined}
  >
    {icon && <Icon name={icon} />}
    {children}
  </button>
)
