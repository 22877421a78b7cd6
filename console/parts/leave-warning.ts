import { useEffect } from 'preact/hooks'

/** While true, the browser asks before it leaves the page. */
export const useLeaveWarning = (isNeeded: boolean): void =>
  useEffect(() => {
    if (!isNeeded) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isNeeded])
