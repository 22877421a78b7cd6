import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

interface ButtonProps {
  readonly onClick?: (event: MouseEvent) => void
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
    onClick={onClick}
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
