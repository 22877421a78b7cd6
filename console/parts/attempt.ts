import { useSignal } from '@preact/signals'

/** Runs actions. Keeps the failure of the last action until the next one begins. */
export const useAttempt = () => {
  const failure = useSignal<unknown>()
  const isBusy = useSignal(false)
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    isBusy.value = true
    failure.value = undefined
    try {
      await work()
    } catch (error) {
      failure.value = error
    }
    isBusy.value = false
  }
  return { failure, isBusy, attempt }
}
