import { useSignal } from '@preact/signals'

/**
 * The open dialog of a list. An action in this dialog may choose the dialog that follows, such as the secret of a new
 * key. `onClosed` reads the list again.
 */
export const useDialogs = <Opened>(onClosed: () => void) => {
  const opened = useSignal<Opened>()
  const next = useSignal<readonly Opened[]>([])
  const show = (dialog: Opened | undefined) => {
    opened.value = dialog
  }
  // The user may have closed the dialog before its action was done.
  const follow = (dialog: Opened) => {
    if (opened.value) next.value = [...next.value, dialog]
    else show(dialog)
  }
  const close = () => {
    const [first, ...others] = next.value
    show(first)
    next.value = others
    onClosed()
  }
  return { opened: opened.value, show, follow, close }
}
