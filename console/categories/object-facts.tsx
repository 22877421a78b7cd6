import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { Failure } from '../parts/failure.tsx'
import { formatMoment } from '../parts/format.ts'
import { More } from '../parts/more.tsx'
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
  ].filter(([, value]) => value)
}

/** The content of a news item or a blog, without its formatting. */
export const ObjectFacts = ({ id, kind }: { readonly id: number; readonly kind: Kind }) => {
  const t = viewTexts.value.categories
  const { client, access } = usePage()
  const content = useSignal<ObjectContent | null | undefined>(undefined)
  const failure = useSignal<unknown>(undefined)
  const load = async () => {
    failure.value = undefined
    try {
      content.value = (await readObject(client.categories, kind, id)) ?? null
    } catch (error) {
      failure.value = error
    }
  }
  useEffect(() => {
    if (!content.value) load()
  }, [access, id])
  if (failure.value !== undefined) return <Failure error={failure.value} onRepeat={load} />
  if (!content.value) return <p class="soft">{content.value === null ? t.noContent : texts.value.loading}</p>
  return (
    <>
      <dl class="facts">
        {factsOf(content.value).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <section class="seen-text" tabIndex={0} aria-label={t.content}>
        {content.value.text || t.noContent}
      </section>
      <More facts={[[t.id, String(id)]]} />
    </>
  )
}
