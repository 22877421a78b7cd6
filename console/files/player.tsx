import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Failure } from '../parts/failure.tsx'
import { texts } from '../texts/texts.ts'

interface PlayerProps {
  readonly kind: 'audio' | 'video'
  readonly name: string
  readonly path: string
}

interface PlayerEvent {
  readonly currentTarget: HTMLMediaElement
}

// In seconds: this far from a failure, the player has continued.
const otherPart = 1

/** Plays a file from a link without a token, so that the browser reads only the parts that it plays (K-43). */
export const Player = ({ kind, name, path }: PlayerProps) => {
  const { client } = usePage()
  const url = useSignal<string>()
  const { failure, attempt } = useAttempt()
  const isUnplayable = useSignal(false)
  // Set from a failure until the person has played another part, so that a damaged file does not fail without end.
  const resumed = useRef<{ readonly at: number; readonly isPlaying: boolean } | undefined>(undefined)
  const open = () =>
    attempt(async () => {
      url.value = (await client.files.link(path)).url
    })
  useEffect(() => {
    open()
  }, [path])
  const props = {
    class: 'seen-media',
    src: url.value,
    controls: true,
    preload: 'metadata',
    'aria-label': name,
    // A link works for some minutes only, and a person may pause for longer.
    onError({ currentTarget: { currentTime, paused } }: PlayerEvent) {
      isUnplayable.value = resumed.current !== undefined
      resumed.current = { at: currentTime, isPlaying: !paused }
      if (!isUnplayable.value) open()
    },
    onLoadedMetadata({ currentTarget }: PlayerEvent) {
      const { at = 0, isPlaying = false } = resumed.current ?? {}
      if (at > 0) currentTarget.currentTime = at
      if (isPlaying) currentTarget.play().catch(() => {})
    },
    onEnded() {
      resumed.current = undefined
    },
    onTimeUpdate({ currentTarget: { currentTime, readyState } }: PlayerEvent) {
      const { at = currentTime } = resumed.current ?? {}
      // A new link resets the time before the player knows the file.
      if (readyState > 0 && Math.abs(currentTime - at) >= otherPart) resumed.current = undefined
    },
  } as const
  if (failure.value !== undefined) return <Failure error={failure.value} onRepeat={open} />
  if (isUnplayable.value) return <p class="soft">{texts.value.files.noPreview}</p>
  if (url.value === undefined) return <p class="soft">{texts.value.loading}</p>
  return kind === 'audio' ? <audio {...props} /> : <video {...props} />
}
