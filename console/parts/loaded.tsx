import { useSignal } from '@preact/signals'
import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { useAttempt } from './attempt.ts'
import { Failure, refuseUnreachable } from './failure.tsx'

interface LoadedProps<Props> {
  readonly load: () => Promise<ComponentType<Props>>
  readonly props: Props
  readonly children?: ComponentChildren
}

/** Loads the script of a part of the page on demand, and shows this part. */
export const Loaded = <Props extends object>({ load, props, children }: LoadedProps<Props>) => {
  const component = useSignal<{ readonly Shown: ComponentType<Props> }>()
  const { failure, attempt } = useAttempt()
  useEffect(() => {
    attempt(async () => {
      component.value = { Shown: await load().catch(refuseUnreachable) }
    })
  }, [load])
  // After a failure, a browser does not load the same script again until the page is reloaded. Without an answer of the
  // service, a reload would lose the page.
  const reload = async () => {
    const answer = await fetch('console').catch(() => undefined)
    if (answer?.ok) location.reload()
  }
  if (failure.value !== undefined) return <Failure error={failure.value} onRepeat={reload} />
  const { Shown } = component.value ?? {}
  return Shown ? <Shown {...props} /> : children
}
