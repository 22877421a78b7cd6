import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Facts, More } from '../parts/facts.tsx'
import { Failure } from '../parts/failure.tsx'
import { formatMoment } from '../parts/format.ts'
import { texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { type Kind, type ObjectContent, readObject } from './objects-store.ts'

const factsOf = ({ released, changed, expires, address }: ObjectContent) => {
  const t = viewTexts.value.categories
  return [
    [t.released, released && formatMoment(released)],
    [t.expires, expires && formatMoment(expires)],
    [t.changed, changed && formatMoment(changed)],
    [t.address, address],
  ] as const
}

/** The content of a news item or a blog, without its formatting. */
export const ObjectFacts = ({ id, kind }: { readonly id: number; readonly kind: Kind }) => {
  const t = viewTexts.value.categories
  const { client, access } = usePage()
  const content = useSignal<ObjectContent | null>()
  const { failure, attempt } = useAttempt()
  const load = () =>
    attempt(async () => {
      content.value = (await readObject(client.categories, kind, id)) ?? null
    })
  useEffect(() => {
    if (!content.value) load()
  }, [access, id])
  if (failure.value !== undefined) return <Failure error={failure.value} onRepeat={load} />
  if (!content.value) return <p class="soft">{content.value === null ? t.noContent : texts.value.loading}</p>
  return (
    <>
      <Facts facts={factsOf(content.value)} />
      <section class="seen-text" tabIndex={0} aria-label={t.content}>
        {content.value.text || t.noContent}
      </section>
      <More facts={[[t.id, String(id)]]} />
    </>
  )
}
