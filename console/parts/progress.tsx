import { texts } from '../texts/texts.ts'
import { formatDuration, formatSize } from './format.ts'

interface ProgressProps {
  readonly label: string
  readonly sent: number
  readonly total: number
  /** In bytes per second; 0 if unknown. */
  readonly rate?: number
  readonly isOffline?: boolean
}

export const Progress = ({ label, sent, total, rate = 0, isOffline }: ProgressProps) => {
  const t = texts.value
  const isMoving = rate > 0 && sent < total
  const figures = isMoving && t.progress(formatSize(rate), formatDuration((total - sent) / rate))
  const shown = isOffline ? t.shell.offline : figures
  return (
    <div class="progress">
      <progress aria-label={label} max={Math.max(1, total)} value={total === 0 ? 1 : sent} />
      {shown && <span class="progress-figures">{shown}</span>}
    </div>
  )
}
