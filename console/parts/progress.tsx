import { texts } from '../texts/texts.ts'
import { formatDuration, formatSize } from './format.ts'

interface ProgressProps {
  readonly label: string
  readonly sent: number
  readonly total: number
  /** In bytes per second; 0 if unknown. */
  readonly rate?: number
}

export const Progress = ({ label, sent, total, rate = 0 }: ProgressProps) => (
  <div class="progress">
    <progress aria-label={label} max={Math.max(1, total)} value={total === 0 ? 1 : sent} />
    {rate > 0 && sent < total && (
      <span class="progress-figures">
        {texts.value.progress.rate(formatSize(rate))} ·{' '}
        {texts.value.progress.left(formatDuration((total - sent) / rate))}
      </span>
    )}
  </div>
)
