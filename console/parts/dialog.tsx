import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { Failure } from './failure.tsx'
import { focusContent } from './focus.ts'
import { notifyFailure } from './toasts.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly kind?: 'small' | 'wide'
  /** Without it, the dialog cannot be closed by its reader. */
  readonly isClosable?: boolean
}

/** A modal dialog: it holds the focus while it is there, and gives it back where it was. */
export const Dialog = ({ title, onClose, children, kind = 'small', isClosable = true }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useLayoutEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    // What is typed or chosen comes first; where nothing is, the harmless button does.
    opened
      ?.querySelector<HTMLElement>(':is(.dialog-body, form) :is(input, select, textarea):not([hidden]), footer button')
      ?.focus()
    return () => {
      opened?.close()
      // What had the keyboard before may be gone.
      if (document.activeElement === document.body) focusContent()
    }
  }, [])
  const onCancel = (event: Event) => {
    // It is closed by what shows it, so that both never differ.
    event.preventDefault()
    if (isClosable && event.target === dialog.current) onClose()
  }
  // A browser closes a dialog by itself when it was asked to twice.
  const onClosed = () => {
    if (isClosable && dialog.current) onClose()
    else dialog.current?.showModal()
  }
  return (
    <dialog
      ref={dialog}
      class={`dialog dialog-${kind}`}
      aria-labelledby={heading}
      onCancel={onCancel}
      onClose={onClosed}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        {isClosable && <Button icon="close" kind="quiet" label={texts.value.close} onClick={onClose} />}
      </header>
      {children}
    </dialog>
  )
}

interface FormDialogProps {
  readonly title: string
  /** The label of the main button. */
  readonly action: string
  /** The label of the cancel button. */
  readonly cancel?: string
  readonly isDangerous?: boolean
  readonly isReady?: boolean
  readonly children: ComponentChildren
  /** Does it. When that fails, the dialog stays, says why, and the button tries again. */
  readonly onSubmit: () => Promise<void> | void
  readonly onClose: () => void
  readonly kind?: 'small' | 'wide'
}

/** A dialog that does one thing. It closes when that is done. */
export const FormDialog = ({
  title,
  action,
  isDangerous = false,
  isReady = true,
  children,
  onSubmit,
  onClose,
  ...rest
}: FormDialogProps) => {
  const isBusy = useSignal(false)
  const failure = useSignal<unknown>(undefined)
  const isShown = useRef(true)
  useLayoutEffect(
    () => () => {
      isShown.current = false
    },
    [],
  )
  const submit = async (event: Event) => {
    event.preventDefault()
    // Enter in a search is for the search.
    if (isBusy.value || !isReady || document.activeElement?.matches('[type=search]')) return
    isBusy.value = true
    failure.value = undefined
    try {
      await onSubmit()
      // Closed meanwhile: another dialog may stand in its place.
      if (isShown.current) onClose()
    } catch (error) {
      failure.value = error
      if (!isShown.current) notifyFailure(title, error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Dialog title={title} onClose={onClose} kind={rest.kind ?? 'small'}>
      <form method="dialog" onSubmit={submit} aria-busy={isBusy.value}>
        <div class="dialog-body">{children}</div>
        {failure.value !== undefined && <Failure error={failure.value} />}
        <footer>
          <Button onClick={onClose}>{rest.cancel ?? texts.value.cancel}</Button>
          <Button type="submit" kind={isDangerous ? 'danger' : 'primary'} disabled={!isReady}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
