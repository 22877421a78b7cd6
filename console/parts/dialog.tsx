import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { useAttempt } from './attempt.ts'
import { Button } from './button.tsx'
import { Failure } from './failure.tsx'
import { focusContent, focusDialog } from './focus.ts'
import { withoutDots } from './format.ts'
import { Progress } from './progress.tsx'
import { notifyFailure, Toasts } from './toasts.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly kind?: 'small' | 'wide' | 'full'
  /** If true, the content of the page gets the focus when the dialog closes. */
  readonly isDone?: { readonly current: boolean }
  /** If false, the user cannot close the dialog. */
  readonly isClosable?: boolean
}

/** A modal dialog. When it closes, the focus returns to the previous element. */
export const Dialog = ({ title, onClose, children, kind = 'small', isDone, isClosable = true }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const show = () => {
    dialog.current?.showModal()
    if (dialog.current) focusDialog(dialog.current)
  }
  useLayoutEffect(() => {
    const opened = dialog.current
    show()
    return () => {
      opened?.close()
      // The element that had the focus before the dialog may have been removed.
      if (isDone?.current || document.activeElement === document.body) focusContent()
    }
  }, [])
  const onCancel = (event: Event) => {
    // Only the owner of the dialog closes it, so that the state and the page never differ.
    event.preventDefault()
    if (isClosable && event.target === dialog.current) onClose()
  }
  /** The keys for saving press the main button, unless this button is dangerous. */
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 's') return
    event.preventDefault()
    dialog.current?.querySelector<HTMLElement>('.button-primary[type=submit]:enabled')?.click()
  }
  // After a second close request, a browser closes the dialog even if the page prevents it. The owner may keep it open.
  const onClosed = () => {
    if (!dialog.current) return
    show()
    if (isClosable) onClose()
  }
  return (
    <dialog
      ref={dialog}
      class={`dialog dialog-${kind}`}
      aria-labelledby={heading}
      onCancel={onCancel}
      onClose={onClosed}
      onKeyDown={onKeyDown}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        {isClosable && <Button icon="close" kind="quiet" label={texts.value.close} onClick={onClose} />}
      </header>
      {children}
      <Toasts />
    </dialog>
  )
}

interface FormDialogProps {
  readonly title: string
  readonly action: string
  readonly cancel?: string
  readonly isDangerous?: boolean
  readonly isReady?: boolean
  readonly children: ComponentChildren
  /** If this rejects, the dialog stays open and shows the reason, and the button tries again. */
  readonly onSubmit: (mayContinue: (ended: number, all: number) => boolean) => Promise<void> | void
  readonly onClose: () => void
  readonly kind?: 'small' | 'wide'
  /** If true, the list gets the focus after the action, because the list shows the result. */
  readonly changesList?: boolean
}

/** A dialog for one action. It closes when the action succeeds. */
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
  const { failure, isBusy, attempt } = useAttempt()
  const form = useRef<HTMLFormElement>(null)
  const isDone = useRef(false)
  const progress = useSignal({ sent: 0, total: 1 })
  const mayContinue = (sent: number, total: number) => {
    progress.value = { sent, total }
    return form.current !== null
  }
  const act = async () => {
    await onSubmit(mayContinue)
    isDone.current = rest.changesList === true
    // If the dialog was closed during the action, another dialog may be open.
    if (form.current) onClose()
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    // The Enter key in a search field searches, and does not submit the dialog.
    if (isBusy.value || !isReady || document.activeElement?.matches('[type=search]')) return
    await attempt(act)
    if (failure.value !== undefined && !form.current) notifyFailure(title, failure.value)
  }
  return (
    <Dialog {...rest} title={title} onClose={onClose} isDone={isDone}>
      <form ref={form} method="dialog" onSubmit={submit} aria-busy={isBusy.value}>
        <div class="dialog-body">
          {children}
          {progress.value.total > 1 && <Progress label={title} {...progress.value} />}
        </div>
        <Failure error={failure.value} />
        <footer>
          <Button onClick={onClose}>{rest.cancel ?? texts.value.cancel}</Button>
          <Button type="submit" kind={isDangerous ? 'danger' : 'primary'} disabled={!isReady}>
            {withoutDots(action)}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
