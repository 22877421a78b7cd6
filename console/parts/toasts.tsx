import { signal } from '@preact/signals'
import { texts } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { messageOf } from './failure.tsx'
import { focusContent } from './focus.ts'
import { Icon } from './icon.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isFailure: boolean
  readonly action?: { readonly label: string; readonly run: () => void } | undefined
}

/** Then a new notice replaces the oldest one. Failures stay longer than other notices. */
const most = 4
const toasts = signal<readonly Toast[]>([])
let last = 0

// In milliseconds. A notice with an action stays longer. A failure stays until the user closes it.
const stays = { plain: 5000, withAction: 12_000 }

const drop = (id: number) => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

/** Removes a notice, but only when no notice has the pointer or the focus. */
const leave = (id: number) => {
  if (document.querySelector('.toasts:is(:hover, :focus-within)')) setTimeout(leave, stays.plain, id)
  else drop(id)
}

const close = (id: number) => {
  drop(id)
  focusContent()
}

const show = (toast: Omit<Toast, 'id'>): void => {
  const id = ++last
  const shown = toasts.value
  const oldest = shown.length < most ? undefined : (shown.find(({ isFailure }) => !isFailure) ?? shown[0])
  toasts.value = [...shown.filter((each) => each !== oldest), { ...toast, id }]
  if (!toast.isFailure) setTimeout(leave, toast.action ? stays.withAction : stays.plain, id)
}

/** After a sign-out, nobody may repeat or undo the actions of the previous person, or read their names. */
export const clearNotices = (): void => {
  toasts.value = []
}

export const notify = (text: string, action?: Toast['action']): void => show({ text, isFailure: false, action })

/** Shows the message of the service, and offers to repeat the action. */
export const notifyFailure = (text: string, error: unknown, repeat?: () => void): void =>
  show({
    text: `${text} ${messageOf(error)}`.trim(),
    isFailure: true,
    action: repeat && { label: texts.value.repeat, run: repeat },
  })

/** Runs an action. If it fails, shows the message of the service, and offers to repeat the action. */
export const attemptOrNotify = async (work: () => Promise<unknown>, text = ''): Promise<void> => {
  try {
    await work()
  } catch (error) {
    notifyFailure(text, error, () => attemptOrNotify(work, text))
  }
}

/** Screen readers announce new notices. While a dialog is open, they read only the notices inside the dialog. */
export const Toasts = () => (
  <section class="toasts" aria-label={texts.value.notices} aria-live="polite">
    {toasts.value.map(({ id, text, isFailure, action }) => (
      <div key={id} class={`toast${isFailure ? ' is-failure' : ''}`}>
        <Icon name={isFailure ? 'warning' : 'check'} />
        <p>{text}</p>
        {action && (
          <Button
            kind="quiet"
            onClick={() => {
              close(id)
              action.run()
            }}
          >
            {action.label}
          </Button>
        )}
        <Button icon="close" kind="quiet" label={texts.value.close} onClick={() => close(id)} />
      </div>
    ))}
  </section>
)
