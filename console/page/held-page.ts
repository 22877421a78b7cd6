import { useEffect } from 'preact/hooks'
import { useLeaveWarning } from '../parts/leave-warning.ts'
import { holdRoute } from '../route/routes.ts'

/** While true, Back only calls `onBack`, and the browser asks before it leaves the page. */
export const useHeldPage = (isNeeded: boolean, onBack?: () => void): void => {
  useLeaveWarning(isNeeded)
  useEffect(() => (isNeeded ? holdRoute(onBack) : undefined), [isNeeded])
}
